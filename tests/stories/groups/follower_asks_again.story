# The answer to a join or a sync is lost on the way: the same again, and no rebalance.
> settings initial_rebalance_delay_ms=1000
> join a old
> join b old
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> join b
b: joined b-1 gen=1 range leader=a-1
> join a
a: joined a-1 gen=1 range leads: a-1 b-1
> sync b
> sync b
b: rebalance-in-progress
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
b: synced t1
> sync b
b: synced t1
> join b
b: joined b-1 gen=1 range leader=a-1
> sync b
b: synced t1
# The leader in a stable group, however, means it.
> join a
> heartbeat b
b: rebalance-in-progress
