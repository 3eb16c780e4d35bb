# Who waits for an answer of ours cannot show life: its session does not end, however long the others take.
> settings initial_rebalance_delay_ms=1000
> join a old session=6000
> join b old session=6000
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> join c old session=6000
> join a
> wait 5000
> heartbeat b
b: rebalance-in-progress
> wait 5000
> heartbeat b
b: rebalance-in-progress
> join b
a: joined a-1 gen=2 range leads: a-1 b-1 c-1
b: joined b-1 gen=2 range leader=a-1
c: joined c-1 gen=2 range leader=a-1
> sync b
> wait 5000
> heartbeat a
a: alive
> heartbeat c
c: alive
> wait 3000
> sync a plan=a:t0,b:t1
log stored gen=2 range leader=a-1 a-1:t0 b-1:t1 c-1:-
a: synced t0
b: synced t1
