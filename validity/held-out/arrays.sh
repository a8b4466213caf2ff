declare -A count
while read -r n; do count[$((n % 5000))]+="$n "; done < <(head -n 60000 numbers.txt)
echo "${#count[@]}"
