# A client gives up waiting and joins again: the first request is answered too, and forgotten.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> join b
b: member-id-required (b-1)
> join b
> join b
b: rebalance-in-progress (b-1)
> join a
a: joined a-1 gen=2 range leads: a-1 b-1
b: joined b-1 gen=2 range leader=a-1
