// What a page opens first.
import {$} from "./dom.js"
import {plural} from "./words.js"

const AFTER = 4000 // milliseconds

// The number of the pair that the URL names, else 0.
export const asked = () => Number(new URLSearchParams(location.search).get("pair"))

// The pairs of who is here, asked for until there are some; the server may be away for a while.
export async function pairs(wire) {
	const decides = wire.project.role === "adjudicator"
	for (let known; ; ) {
		known = await (decides ? wire.get("gold?limit=1000") : wire.queue()).catch(problem => {
			if (!known) throw problem
			return known
		})
		if (known.pairs.length) return known.pairs
		let empty = "There is nothing to do here for you yet. The first pair will open here."
		if (decides) {
			empty =
				`None of the ${plural(known.project, "pair")} is ready yet: a pair is ready when all ` +
				"its annotators are done. The first one will open here."
		}
		$("start-text").textContent = empty
		document.body.dataset.state = "waiting"
		await new Promise(go => setTimeout(go, AFTER))
	}
}
