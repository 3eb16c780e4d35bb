# Cooperative assignors rebalance twice: first the partition is given up, then it is handed on. Nobody stops meanwhile.
> settings initial_rebalance_delay_ms=0
> join a old protocols=cooperative-sticky
a: joined a-1 gen=1 cooperative-sticky leads: a-1
> sync a plan=a:t0+t1
log stored gen=1 cooperative-sticky leader=a-1 a-1:t0+t1
a: synced t0+t1
> join b old protocols=cooperative-sticky
> commit a t/0=5
log offset t/0=5
a: committed t/0
> join a protocols=cooperative-sticky
a: joined a-1 gen=2 cooperative-sticky leads: a-1 b-1
b: joined b-1 gen=2 cooperative-sticky leader=a-1
> sync b
> sync a plan=a:t0,b:
log stored gen=2 cooperative-sticky leader=a-1 a-1:t0 b-1:-
a: synced t0
b: synced -
> join a topics=t protocols=cooperative-sticky
> heartbeat b
b: rebalance-in-progress
> join b protocols=cooperative-sticky
a: joined a-1 gen=3 cooperative-sticky leads: a-1 b-1
b: joined b-1 gen=3 cooperative-sticky leader=a-1
> sync a plan=a:t0,b:t1
log stored gen=3 cooperative-sticky leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
