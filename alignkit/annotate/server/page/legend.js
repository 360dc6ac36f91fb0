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
			["mark ring r3", made.rings[3], "at least 90 %"],
			["mark ring r2", made.rings[2], "at least 60 %"],
			["mark ring r1", made.rings[1], "at least 10 %"],
			["mark ring r0", made.rings[0], "below 10 %"],
			["mark rejected", made.cross, "rejected"],
			["mark sure", made.unseen, "not looked at"],
			["bare", circle(8.5, 8.5, 3), "unaligned"],
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
