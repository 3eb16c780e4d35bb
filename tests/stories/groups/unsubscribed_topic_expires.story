# In a group that lives, offsets of topics nobody reads any more go after their own time.
> settings initial_rebalance_delay_ms=0 offsets_retention_ms=100000 offsets_check_ms=1000
> join a old topics=t,u session=1000000
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0+u0
log stored gen=1 range leader=a-1 a-1:t0+u0
a: synced t0+u0
> commit a t/0=5 u/0=6
log offset t/0=5
log offset u/0=6
a: committed t/0
a: committed u/0
> join a topics=t session=1000000
a: joined a-1 gen=2 range leads: a-1
> sync a plan=a:t0
log stored gen=2 range leader=a-1 a-1:t0
a: synced t0
> wait 101000
log forgot u/0   (at 100000)
> fetch
admin: t/0=5
