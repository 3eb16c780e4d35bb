# A member that does not come again in time for the rebalance is out, though it sends heartbeats.
> settings initial_rebalance_delay_ms=1000
> join a old rebalance=5000
> join b old rebalance=5000
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> join c old rebalance=5000
> join a rebalance=5000
> wait 4000
> heartbeat b
b: rebalance-in-progress
> wait 1000
a: joined a-1 gen=2 range leads: a-1 c-1   (at 7000)
c: joined c-1 gen=2 range leader=a-1   (at 7000)
> heartbeat b
b: unknown-member
> sync a plan=a:t0,c:t1
log stored gen=2 range leader=a-1 a-1:t0 c-1:t1
a: synced t0
> sync c
c: synced t1
