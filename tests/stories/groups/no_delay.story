# With no delay the first member is answered at once, and the second has to interrupt it.
> settings initial_rebalance_delay_ms=0
> join a
a: member-id-required (a-1)
> join a
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0+t1
log stored gen=1 range leader=a-1 a-1:t0+t1
a: synced t0+t1
> join b
b: member-id-required (b-1)
> join b
> heartbeat a
a: rebalance-in-progress
> join a
a: joined a-1 gen=2 range leads: a-1 b-1
b: joined b-1 gen=2 range leader=a-1
> sync b
> sync a plan=a:t0,b:t1
log stored gen=2 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
b: synced t1
