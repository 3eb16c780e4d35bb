# What is said where there is no group.
> heartbeat a gen=1 member=a-1
a: unknown-member
> sync a gen=1
a: unknown-member
> leave a
a: left a-1 unknown-member
> commit a t/0=1 gen=1
a: group-not-found
> join a
a: unknown-member (a-1)
> fetch t/0
admin: t/0=none
> fetch
admin: nothing
> describe
admin: group-not-found
> list
admin: nothing
> delete-group
admin: group-not-found
> delete-offsets t/0
admin: group-not-found
