# A static member comes back without an id before its session ends: same place, same plan, no rebalance.
> settings initial_rebalance_delay_ms=1000
> join a instance=A
> join b instance=B
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> join b member=-
log stored gen=1 range leader=a-1 a-1:t0 b-2:t1
b: joined b-2 gen=1 range leader=a-1
> sync b
b: synced t1
> heartbeat b
b: alive
> heartbeat a
a: alive
> describe
admin: Stable range a-1:t0 b-2:t1
