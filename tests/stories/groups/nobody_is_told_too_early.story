# Until the log has committed, nobody hears of it: neither who asked, nor who asks later. A crash takes it back.
> settings initial_rebalance_delay_ms=0
> join a old
a: joined a-1 gen=1 range leads: a-1
> hold
> sync a plan=a:t0
log stored gen=1 range leader=a-1 a-1:t0
> commit a t/0=5
log offset t/0=5
> fetch
> heartbeat a
a: alive
> flush
a: synced t0
a: committed t/0
admin: t/0=5
> hold
> commit a t/0=6
log offset t/0=6
> fetch
> crash
> fetch
admin: t/0=5
