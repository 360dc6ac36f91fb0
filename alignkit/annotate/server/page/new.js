// A draft: files, what is in them, and the project (or the import) that is made of them.
import {$, button, html, on, say, set} from "./dom.js"
import {
	api,
	ask,
	cell,
	choice,
	Fault,
	head,
	pageOf,
	plural,
	root,
	rows,
	size,
	tried,
	whenSent,
} from "./manage.js"
import {preview} from "./preview.js"
import {begin} from "./tabs.js"
import {dropped, named, send} from "./upload.js"

const id = location.pathname.split("/").pop()
const form = $("project")
const SOON = 500
const LATER = 5000
const kept = `alignkit draft ${id}`
const at = path => `drafts/${id}${path}`
const field = name => form.elements[name]
const WAYS = {
	encoder: name => `trained on these pairs, with the encoder ${name}`,
	trained: () => "trained on these pairs",
	initial: name => `the links of ${name}`,
	model: name => `by ${name}`,
	none: () => "none",
}

begin(async me => {
	let draft = null
	let timer = 0
	let k = 1
	let turn = 0
	let drawn = ""
	let picked = ""
	let creating = false
	const sending = new Map() // files that are on their way: the share that has gone, or why it failed

	// Files

	function fileRow({n, name, bytes, kind, kinds, problem, share}) {
		let part = ""
		if (share !== undefined)
			part = html("progress", {value: share, max: 1, "aria-label": `${name}, sent`})
		else if (kinds.length)
			part = choice(`What ${name} is`, kinds, kind, value => put({kinds: {[n]: value}}))
		const remove = set(
			button(() => tried(() => removed(n)), "plain", "×"),
			{"aria-label": `Remove ${name}`},
		)
		const title = head(name, html("small", {}, ` ${size(bytes)}`))
		if (problem) title.append(html("p", {class: "bad"}, problem))
		return [title, cell(part), html("td", {class: "acts"}, remove)]
	}

	async function removed(n) {
		if (sending.delete(n)) return draw()
		await api("DELETE", at(`/files/${n}`))
		await load()
	}

	// Send files one after the other; a file that is refused stays in the list, with the reason.
	async function add(files) {
		await ready
		for (const file of files) {
			const name = file.label ?? file.name
			const key = `new ${name}`
			const row = {n: key, name, bytes: file.size, kinds: [], share: 0}
			sending.set(key, row)
			draw()
			try {
				await send(id, file, share => {
					row.share = share
					draw()
				})
				sending.delete(key)
			} catch (fault) {
				if (!(fault instanceof Fault)) throw fault
				sending.set(key, {...row, share: undefined, problem: fault.message})
			}
			await load()
		}
	}

	// Draft

	async function load() {
		clearTimeout(timer)
		draft = await api("GET", at(""))
		draw()
		if (draft.reading) again(SOON)
	}
	const again = (after = LATER) => {
		timer = setTimeout(() => tried(load, again), after)
	}

	const put = change =>
		tried(
			async () => {
				draft = await api("PATCH", at(""), change)
				await load()
			},
			() => draw(true),
		)

	function finding({code, text, pairs, choices, chosen}) {
		const noun = pairs.length > 1 ? "pairs" : "pair"
		const places = pairs.flatMap((pair, at) => [
			at ? ", " : " ",
			button(() => show(pair), "link", at ? String(pair) : `${noun} ${pair}`),
		])
		return [
			html("td", {class: "sign", "aria-hidden": "true"}, "!"),
			head(text, ...places),
			html(
				"td",
				{class: "acts"},
				choices.length
					? choice(text, choices, chosen, value => put({choices: {[code]: value}}))
					: "",
			),
		]
	}

	const option = ({name, label, value, choices}) => [
		head(label),
		html(
			"td",
			{class: "acts"},
			choice(label, choices, value, chosen => put({options: {[name]: chosen}})),
		),
	]

	function draw(anew) {
		const {
			files,
			reading,
			progress,
			detected,
			options,
			pairs,
			findings,
			problem,
			project,
			task,
			name,
		} = draft
		const all = [
			...files.map(({n, size: bytes, ...file}) => ({n, bytes, ...file})),
			...sending.values(),
		]
		document.body.classList.toggle("empty", !all.length)
		rows($("files"), all, fileRow, "n", anew)
		$("reading").hidden = !reading
		say("reading-text", progress)
		const none = reading ? "Reading" : "No sentence pairs yet"
		say("pairs", pairs ? plural(pairs, "sentence pair") : none)
		say("problem", problem)
		$("detected").hidden = !detected
		say("detected-text", detected)
		rows($("options"), options, option, "name", anew)
		rows($("findings"), findings, finding, "code", anew)
		form.hidden = !!project || !all.length
		$("import").hidden = !project || !all.length
		if (project) {
			document.body.classList.add("importing")
			say("title", `Import into ${me.roles.find(({slug}) => slug === project)?.name ?? project}`)
		}
		if (!field("name").value && name) field("name").value = name
		field("task").value = task
		suggesting()
		for (const part of document.querySelectorAll(".makes"))
			part.disabled = !draft.ready || reading || sending.size > 0 || creating
		if (!pairs || reading) $("pair").hidden = true
		const now = JSON.stringify([draft.etag, pairs])
		if (pairs && !reading && now !== drawn) {
			drawn = now
			show(Math.min(k, pairs))
			if (project && draft.ready) tried(looked)
		}
	}

	// Where suggestions can come from, as the files have it.
	function suggesting() {
		const {annotators, models, task} = draft
		const ways = [
			...(me.encoder ? [["encoder", me.encoder]] : []),
			["trained"],
			...annotators.map(name => ["initial", name]),
			...models.map(name => ["model", name]),
			["none"],
		]
		const [first] = ways // never links of the files, which may be gold
		const tag = JSON.stringify(ways)
		const named = parts => parts.filter(Boolean).join(" ")
		for (const part of ["suggest", "looks"]) $(part).hidden = task !== "align"
		$("ways-note").hidden = !annotators.length
		$("scheme-none").disabled = task === "judge"
		if (task === "judge" && field("scheme").value === "none") field("scheme").value = "paraphrase"
		$("own").hidden = field("scheme").value !== "own"
		field("labels").required = !$("own").hidden
		if ($("ways").dataset.tag !== tag) {
			$("ways").dataset.tag = tag
			const chosen = ways.find(parts => named(parts) === picked) ?? first
			$("ways").replaceChildren(
				...ways.map(parts =>
					html(
						"label",
						{class: "tick"},
						html("input", {
							type: "radio",
							name: "suggestions",
							value: named(parts),
							checked: parts === chosen ? "" : null,
						}),
						WAYS[parts[0]](parts[1]),
					),
				),
			)
		}
		$("improve").hidden = !/^(trained|encoder|model)/.test(way().join(" "))
	}

	const way = () =>
		(form.querySelector("[name=suggestions]:checked")?.value ?? "none").split(/ (.*)/s)

	async function show(pair) {
		const mine = ++turn
		await tried(async () => {
			const doc = await api("GET", at(`/preview/${pair}`))
			const [kind, name] = draft.project ? [] : way()
			if (mine !== turn) return
			k = pair
			$("pair").hidden = false
			const suggests = kind === "initial" && name === doc.by
			preview(doc, suggests, draft.task === "align", !draft.project)
		})
	}

	// Making

	async function made(slug) {
		const wait = fault => {
			if (fault.status && fault.status !== 503) throw fault // else it is being made
		}
		while (((await api("GET", `projects/${slug}`).catch(wait))?.state ?? "making") === "making")
			await new Promise(resolve => setTimeout(resolve, SOON))
		location.assign(pageOf("assign", slug))
	}

	whenSent(form, async ({name, slug, task, scheme, labels, guidelines, gold, doubt}) => {
		const [kind, from = ""] = task === "align" ? way() : ["none"]
		const {blind, majority, learning, nominal} = form.elements
		const own = nominal.checked ? `nominal:${labels}` : labels
		creating = true
		draw()
		say("kept", "Creating …")
		try {
			const project = await api("POST", "projects", {
				draft: id,
				etag: draft.etag,
				name,
				slug,
				task,
				scheme: scheme === "own" ? own : scheme,
				suggestions: {kind, name: from},
				guidelines,
				gold,
				learning: learning.checked && /trained|encoder|model/.test(kind),
				blind: blind.checked,
				majority: majority.checked,
				doubt: Number(doubt),
			})
			sessionStorage.removeItem(kept)
			await made(project.slug)
		} catch (fault) {
			creating = false
			say("kept", "Draft saved")
			await load().catch(() => draw())
			throw fault
		}
	})

	// What an import would do is shown before it is done.
	const how = () => new FormData($("import")).get("how")
	const importing = dry =>
		ask("POST", `projects/${draft.project}/import`, {
			draft: id,
			etag: draft.etag,
			words_only: how() === "words",
			add_pairs: how() === "add",
			dry_run: dry,
		})
	async function looked() {
		const now = how()
		const {counts, warnings} = await (await importing(true)).json()
		if (now !== how()) return
		say("do", {add: "Add pairs", words: "Correct texts", work: "Merge work"}[now])
		$("counts").replaceChildren(
			...[
				...counts
					.filter(([, count]) => count)
					.map(([name, count]) => `${name}: ${count.toLocaleString("en")}`),
				...warnings,
			].map(text => html("li", {}, text)),
		)
	}
	on($("import"), "change", () => tried(looked))
	whenSent($("import"), async () => {
		await importing(false)
		location.assign(pageOf("settings", draft.project))
	})

	// what was typed survives a reload
	for (const [name, value] of JSON.parse(sessionStorage[kept] ?? "[]")) field(name).value = value
	const ready = load()
	for (const name of ["file", "folder"]) {
		on($(`choose-${name}`), "click", () => $(name).click())
		on($(name), "change", ({target}) => {
			const files = [...target.files].map(file => named(file, file.webkitRelativePath || file.name))
			target.value = ""
			tried(() => add(files))
		})
	}
	on(document, "dragover drop", event => event.preventDefault())
	on(document, "dragover dragleave drop", ({type}) =>
		document.body.classList.toggle("over", type === "dragover"),
	)
	on(document, "drop", ({dataTransfer}) =>
		tried(async () => add(await dropped(dataTransfer.items))),
	)
	on($("change"), "click", () => {
		$("changes").hidden = !$("changes").hidden
		$("change").setAttribute("aria-expanded", !$("changes").hidden)
	})
	for (const [name, step] of [
		["previous", -1],
		["next", 1],
	])
		on($(name), "click", () => show(k + step))
	on(form, "change", ({target}) => {
		if (target.name === "task") put({task: target.value})
		if (target.name === "scheme") suggesting()
		if (target.name !== "suggestions") return
		picked = target.value
		suggesting()
		show(k)
	})
	on(
		form,
		"input",
		() =>
			(sessionStorage[kept] = JSON.stringify(
				["name", "slug", "scheme", "labels", "guidelines", "gold"].map(name => [
					name,
					field(name).value,
				]),
			)),
	)
	on($("cancel"), "click", () =>
		tried(async () => {
			await api("DELETE", at(""))
			location.assign(draft.project ? pageOf("settings", draft.project) : root)
		}),
	)
	await ready
})
