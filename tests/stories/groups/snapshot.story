# The log is written anew, as short as it can be, and says the same.
> settings initial_rebalance_delay_ms=1000
> join a old
> join b old
> wait 2000
a: joined a-1 gen=1 range leads: a-1 b-1   (at 2000)
b: joined b-1 gen=1 range leader=a-1   (at 2000)
> sync a plan=a:t0,b:t1
log stored gen=1 range leader=a-1 a-1:t0 b-1:t1
a: synced t0
> sync b
b: synced t1
> commit a t/0=1
log offset t/0=1
a: committed t/0
> commit a t/0=2
log offset t/0=2
a: committed t/0
> commit a t/0=3
log offset t/0=3
a: committed t/0
> commit b t/1=4
log offset t/1=4
b: committed t/1
> leave b
b: left b-1 ok
> join a
a: joined a-1 gen=2 range leads: a-1
> sync a plan=a:t0+t1
log stored gen=2 range leader=a-1 a-1:t0+t1
a: synced t0+t1
> snapshot
log of 6 records is now 3
> describe
admin: Stable range a-1:t0+t1
> fetch
admin: t/0=3
admin: t/1=4
> heartbeat a
a: alive
