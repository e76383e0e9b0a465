# Of the verdicts, deaths and run records of a run, and of those of the same
# cases again, a triage record for each case that was bad, and entries for the
# ledger of known crashes.  $n: how often it was tried; $review: a date.
def bad: .outcome != "pass";
def minor: split(".") | "\(.[0]).\(.[1])", "\(.[0]).\((.[1] | tonumber) + 1)";
(map(select(.kind == "run" and .hardware)) | first) as $facts |
(map(select(.kind == "death" and .again)) |
	map({key: .id, value: (.signal // .outcome)}) | from_entries) as $died |
group_by(.id)[] |
map(select(.kind == "verdict")) |
(map(select(.again | not)) | first // {outcome: "missing"}) as $first |
map(select(.again)) as $again |
select(($again | length) > 0 and ($first | bad)) |
$again[0].id as $id |
($again | map(select(bad)) | length) as $bad |
(if ($again | length) < $n or $first.outcome == "missing" or
	($again | all(.outcome == "error"))
then "environment"
elif $bad == 0 then "order_dependent"
elif $bad == $n then "reproducible"
else "flaky" end) as $class |
{
	v: 1, kind: "triage", id: $id, run: $again[0].run,
	outcome: $first.outcome, class: $class, bad: $bad, times: $n,
	again: ($again | map(.outcome)),
	repro: "make run DEVICE=\($again[0].device) CASE=\($id) ISOLATE=case"
},
(select($class == "reproducible" or $class == "flaky") |
	select($died[$id]) |
	($facts.torch | sub("\\+.*"; "") | [minor]) as $range |
	{
		id: ($id | gsub("[^A-Za-z0-9]+"; "-")), match: $id,
		device: $facts.device, hardware: $facts.hardware,
		torch: ">=\($range[0]),<\($range[1])", signal: $died[$id],
		reason: "found by triage in \($bad) of \($n) runs; unreviewed",
		review: $review
	})
