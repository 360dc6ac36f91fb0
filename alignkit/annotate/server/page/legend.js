import {html, path, set, svg} from "./dom.js"
import {circle, shapes} from "./shapes.js"

// What the marks mean, drawn as the matrix draws them.
export function legend(list) {
	const made = shapes(17)
	const box = "M2 3h13v11h-13z"
	list.replaceChildren(
		...[
			["mark sure", made.box, "sure"],
			["mark possible", made.box, "possible"],
			["mark likely", made.box, "shown, not settled"],
			["mark sure", made.unseen, "kept, not looked at"],
			["stop", circle(8.5, 8.5, 3), "word to look at"],
			["bare", circle(8.5, 8.5, 3), "no link"],
			["mark null", made.null, "explicit null"],
			["phrase", box, "phrase pair"],
			["box blocked", box, "blocked box"],
			["note", shapes(20).note(-4, 2), "comment"],
		].map(([kind, d, name]) =>
			html(
				"li",
				{},
				svg(
					"svg",
					{width: 17, height: 17, "aria-hidden": "true"},
					set(path(kind), {d, fill: kind.endsWith("possible") ? "url(#hatch)" : null}),
				),
				name,
			),
		),
	)
}
