# Where there never was a member, each offset has its own time, and a client may ask for another.
> settings offsets_retention_ms=100000 offsets_check_ms=1000
> commit - t/0=5
log offset t/0=5
-: committed t/0
> wait 50000
> commit - t/1=6
log offset t/1=6
-: committed t/1
> commit - t/2=7 retention=10000
log offset t/2=7
-: committed t/2
> wait 11000
log forgot t/2   (at 60000)
> fetch
admin: t/0=5
admin: t/1=6
> wait 40000
log forgot t/0   (at 100000)
> fetch
admin: t/1=6
> wait 50000
log forgot t/1   (at 150000)
> list
admin: nothing
