// The log of the lab, by person, project and day; as JSON lines to keep.
import {$, on} from "./dom.js"
import {lines, log} from "./audit.js"
import {save, tried} from "./manage.js"
import {begin} from "./tabs.js"

const MOST = 1000

begin(async () => {
	const form = $("filter")
	let timer = 0
	const filter = () => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]))
	on(form, "input", () => {
		clearTimeout(timer)
		timer = setTimeout(() => log(filter()), 300)
	})
	on(form, "submit", event => {
		event.preventDefault()
		tried(async () => {
			const all = []
			for (let part; !part || part.length === MOST; all.push(...part)) part = await lines(filter(), all.at(-1)?.n, MOST)
			save(new Blob(all.map(line => `${JSON.stringify(line)}\n`)), "log.jsonl")
		})
	})
	await log({})
})
