// The log of the lab, by person, project and day; as JSON lines to keep.
import {$, on} from "./dom.js"
import {asked, log} from "./audit.js"
import {download, tried} from "./manage.js"
import {begin} from "./tabs.js"

begin(async () => {
	const form = $("filter")
	let timer = 0
	const filter = () =>
		Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]))
	on(form, "input", () => {
		clearTimeout(timer)
		timer = setTimeout(() => log("audit", filter()), 300)
	})
	on(form, "submit", event => {
		event.preventDefault()
		tried(() => download(asked("audit", {...filter(), format: "jsonl"})))
	})
	await log("audit")
})
