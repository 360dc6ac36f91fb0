// The labels and flags of a scheme in a panel.
import {$, button, html, on, set} from "./dom.js"

// Offer them: `label(value)` acts on a label, `judge(label, flags)` on flags; `app.pair` is the
// open pair.
export function offer(app, {labels = [], flags = []}, label, judge) {
	if (labels.length > 3) $("labels").classList.add("many")
	$("labels").append(
		...labels.map(({value, name, about}) => {
			const input = html("input", {type: "radio", name: "judgment", value})
			on(input, "click", () => label(value))
			return html("label", {title: about || name}, input, html("span", {}, name))
		}),
	)
	$("flags").append(
		...flags.map(({value, name, about, excludes = []}) =>
			set(
				button(
					() => {
						const {flags: held, judgment} = app.pair
						judge(
							judgment,
							held.includes(value)
								? held.filter(flag => flag !== value)
								: [...held.filter(flag => !excludes.includes(flag)), value].sort(),
						)
					},
					"chip",
					name,
				),
				{title: about || name, "data-value": value},
			),
		),
	)
}

// Show which of them a pair has; a flag that does not fit the label is off.
export function mark({judgment, flags: held}, {flags = []}) {
	for (const input of $("labels").querySelectorAll("input"))
		input.checked = input.value === judgment
	for (const flag of $("flags").children) {
		const {value} = flag.dataset
		const {on: labels = []} = flags.find(entry => entry.value === value)
		set(flag, {"aria-pressed": held.includes(value)})
		flag.disabled = labels.length > 0 && !labels.includes(judgment) && !held.includes(value)
	}
}
