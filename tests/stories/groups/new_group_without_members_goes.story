# Somebody asked for an id and never came back: nothing was stored, and soon nothing is left.
> settings offsets_check_ms=20000
> join a session=10000
a: member-id-required (a-1)
> list
admin: g Empty -
> wait 10000
> list
admin: g Empty -
> wait 10000
> list
admin: nothing
