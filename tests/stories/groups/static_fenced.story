# Two processes with one instance id: the newer one wins, whatever the older one asks for.
> settings initial_rebalance_delay_ms=0
> join a instance=A
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> join a2 instance=A
log stored gen=1 range leader=a2-1 a2-1:t0
a2: joined a2-1 gen=1 range leads: a2-1 skip plan
> heartbeat a
a: fenced-instance
> commit a t/0=5
a: fenced-instance
> sync a
a: fenced-instance
> join a
a: fenced-instance (a-1)
> leave a
a: left a-1 fenced-instance
> heartbeat a2
a2: alive
> commit a2 t/0=5
log offset t/0=5
a2: committed t/0
