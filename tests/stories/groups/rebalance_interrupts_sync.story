# A member joins while the others wait for the plan: they are told to join again.
> settings initial_rebalance_delay_ms=1000
> join a old
> join b old
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync b
> join c old
b: rebalance-in-progress
> sync a plan=a:t0,b:t1
a: rebalance-in-progress
> commit a t/0=3
log offset t/0=3
a: committed t/0
> join a
> join b
a: joined a-1 gen=2 range leads: a-1 b-1 c-1
b: joined b-1 gen=2 range leader=a-1
c: joined c-1 gen=2 range leader=a-1
> commit b t/0=3
b: rebalance-in-progress
> sync a plan=a:t0,b:t1,c:t2
log stored gen=2 range leader=a-1 a-1:t0 b-1:t1 c-1:t2
a: synced t0
