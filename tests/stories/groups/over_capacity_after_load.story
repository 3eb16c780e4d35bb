# The limit was lowered while the coordinator was down: a rebalance leaves the last ones out.
> settings initial_rebalance_delay_ms=1000
> join a old
> join b old
> join c old
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1 c-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
c: joined c-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1,c:t2
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1 c-1:t2
a: synced t0
> sync b
b: synced t1
> sync c
c: synced t2
> settings members_max=2
> crash
> heartbeat a
a: rebalance-in-progress
> join a
> join b
> join c
c: group-full
> heartbeat c
c: unknown-member
> sync a plan=a:t0,b:t1
a: rebalance-in-progress
