# Without members anybody may commit; with members only they may.
> settings initial_rebalance_delay_ms=0
> commit - t/0=5 t/1=6 u/0=7
log offset t/0=5
log offset t/1=6
log offset u/0=7
-: committed t/0
-: committed t/1
-: committed u/0
> fetch
admin: t/0=5
admin: t/1=6
admin: u/0=7
> list
admin: g Empty -
> join a old
a: joined a-1 gen=1 range leads: a-1
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
a: synced t0
> commit - t/0=99
-: unknown-member
> leave a
log stored gen=2 empty
a: left a-1 ok
> commit - t/0=8 t/9=1
log offset t/0=8
log offset t/9=1
-: committed t/0
-: committed t/9
> fetch t/0 t/1 t/2 nope/0
admin: t/0=8
admin: t/1=6
admin: t/2=none
admin: nope/0=none
> commit z t/0=1 gen=4 member=z-1
z: unknown-member
