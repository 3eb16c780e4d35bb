"""The load generator: a cheap process of its own that keeps prebuilt requests under way and looks at the clock."""
