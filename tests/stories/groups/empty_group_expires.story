# Offsets are forgotten a while after the group became empty (not after the last commit), the group with them.
> settings initial_rebalance_delay_ms=0 offsets_retention_ms=100000 offsets_check_ms=1000
> join a old session=1000000
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> commit a t/0=5
log offset t/0=5
a: committed t/0
> wait 200000
> fetch
admin: t/0=5
> leave a
log stored gen=2 empty
a: left a-1 ok
> wait 99000
> fetch
admin: t/0=5
> wait 2000
log forgot t/0   (at 300000)
log forgot group   (at 300000)
> list
admin: nothing
