# Offsets can be deleted of topics that no member subscribes to.
> settings initial_rebalance_delay_ms=0
> commit - t/0=5 u/0=6
log offset t/0=5
log offset u/0=6
-: committed t/0
-: committed u/0
> join a old topics=t
a: joined a-1 gen=1 range leads: a-1
> delete-offsets u/0
log forgot u/0
admin: deleted u/0
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> delete-offsets t/0 u/0 u/1
admin: group-subscribed t/0
admin: deleted u/0
admin: deleted u/1
> leave a
log stored gen=2 empty
a: left a-1 ok
> delete-offsets t/0
log forgot t/0
admin: deleted t/0
> fetch
admin: nothing
