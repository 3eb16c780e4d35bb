# Whoever speaks with the number of an old generation is refused.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> join b old
> join a
a: joined a-1 gen=2 range leads: a-1 b-1
b: joined b-1 gen=2 range leader=a-1
> sync a plan=a:t0,b:t1
log stored gen=2 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b gen=1
b: illegal-generation
> heartbeat a gen=1
a: illegal-generation
> commit a t/0=9 gen=1
a: illegal-generation
> commit a t/0=9 gen=3
a: illegal-generation
> sync a gen=3
a: illegal-generation
> commit a t/0=9
log offset t/0=9
a: committed t/0
