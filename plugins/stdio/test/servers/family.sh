# A wrapper as npx, uvx and shells are: what it starts outlives it and holds its pipes open.
#   family.sh            ends at the end of its input, its children do not
#   family.sh stubborn   ignores that and SIGTERM, and so do its children
#   family.sh escaping N starts "sleep N" in a session of its own
case $1 in
  stubborn) trap '' TERM ;;
  escaping) setsid sleep "$2" & ;;
esac
sleep 600 &
sh -c 'sleep 600 & wait' &
printf '{"jsonrpc":"2.0","method":"notifications/ready"}\n'
while read -r line; do
  case $line in
    *crash*) exit 7 ;;
    *ping*) printf '{"jsonrpc":"2.0","id":1,"result":"pong"}\n' ;;
  esac
done
[ "$1" = stubborn ] && while :; do sleep 1; done
