# A member that commits is alive, even if its heartbeats do not come.
> settings initial_rebalance_delay_ms=0
> join a old session=10000
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> wait 9000
> commit a t/0=1
log offset t/0=1
a: committed t/0
> wait 9000
> commit a t/0=2
log offset t/0=2
a: committed t/0
> wait 11000
log stored gen=2 empty   (at 28000)
