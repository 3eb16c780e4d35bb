# Only an empty group can be deleted; with it go its offsets.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> commit a t/0=5
log offset t/0=5
a: committed t/0
> delete-group
admin: group-not-empty
> leave a
log stored gen=2 empty
a: left a-1 ok
> delete-group
log forgot t/0
log forgot group
admin: deleted
> list
admin: nothing
> fetch
admin: nothing
> delete-group
admin: group-not-found
