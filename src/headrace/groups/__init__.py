"""Consumer groups: a pure machine. `coordinator.py` is the way in and says how a host drives it."""
