# A client says what it thinks was agreed upon; where that is something else, it must not get a plan.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a protocol=sticky plan=a:t0
a: inconsistent-protocol
> sync a protocol=range plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
