# A static member comes back with other protocols, and the group would choose another one: rebalance after all.
> settings initial_rebalance_delay_ms=1000
> join a instance=A protocols=range,sticky
> join b instance=B protocols=range,sticky
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> join b member=- protocols=sticky
> heartbeat a
a: rebalance-in-progress
> join a protocols=range,sticky
a: joined a-1 gen=2 sticky leads: a-1 b-2
b: joined b-2 gen=2 sticky leader=a-1
