# The last session ends: the group is empty, its offsets stay.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> commit a t/0=5
log offset t/0=5
a: committed t/0
> wait 20000
log stored gen=2 empty   (at 10000)
> describe
admin: Empty -
> fetch t/0
admin: t/0=5
> join a
a: unknown-member (a-1)
