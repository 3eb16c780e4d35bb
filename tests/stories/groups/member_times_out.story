# A member that falls silent is out when its session ends, and the others share its partitions.
> settings initial_rebalance_delay_ms=1000
> join a old session=10000
> join b old session=10000
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> wait 6000
> heartbeat a
a: alive
> wait 6000
> heartbeat a
a: rebalance-in-progress
> join a
a: joined a-1 gen=2 range leads: a-1
> sync a plan=a:t0+t1
log stored gen=2 range leader=a-1 a-1:t0+t1
a: synced t0+t1
> heartbeat b
b: unknown-member
> commit b t/1=7
b: unknown-member
