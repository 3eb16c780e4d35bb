# The coordinator dies and comes back: the group is as it was stored, and members go on as if nothing had happened.
> settings initial_rebalance_delay_ms=1000
> join a old instance=A
> join b old
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> commit a t/0=5
log offset t/0=5
a: committed t/0
> crash
> describe
admin: Stable range a-1:t0 b-1:t1
> heartbeat a
a: alive
> heartbeat b
b: alive
> fetch
admin: t/0=5
> join a member=-
log stored gen=1 range leader=a-2 b-1:t1 a-2:t0
a: joined a-2 gen=1 range leads: b-1 a-2 skip plan
> wait 9000
> heartbeat a
a: alive
> wait 5000
> describe
admin: PreparingRebalance - a-2:t0
