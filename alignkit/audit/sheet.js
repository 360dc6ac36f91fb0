"use strict"

const data = JSON.parse(document.getElementById("data").textContent)
const at = id => document.getElementById(id)
const column = name => data.headings.indexOf(name)
const [judgment, remark] = [column("judgment"), column("remark")]
const named = data.letters.some(letter => /^[0-9]$/.test(letter)) // keys are then the labels
let place = 0
let kept = true

function restore() {
	try {
		const found = JSON.parse(localStorage.getItem(data.name) || "{}")
		for (const row of data.rows) {
			const said = found[row[0]]
			if (said) [row[judgment], row[remark]] = said
		}
	} catch {
		kept = false
	}
}

function keep() {
	const said = data.rows.map(row => [row[0], [row[judgment], row[remark]]])
	try {
		localStorage.setItem(data.name, JSON.stringify(Object.fromEntries(said)))
		kept = true
	} catch {
		kept = false
	}
}

function sentence(text, phrase) {
	const made = document.createElement("p")
	made.dir = "auto"
	const [open, close] = data.marks
	const start = phrase === null ? -1 : text.indexOf(open + phrase + close)
	if (start < 0) {
		made.textContent = text
		return made
	}
	const end = start + open.length + phrase.length
	const mark = document.createElement("mark")
	mark.textContent = phrase
	made.append(text.slice(0, start), mark, text.slice(end + close.length))
	return made
}

function show() {
	const row = data.rows[place]
	at("place").textContent = `item ${place + 1} of ${data.rows.length}, ${row[0]}`
	at("parts").replaceChildren(
		...(data.marked.length ? data.shown : []).map(name => {
			const part = document.createElement("bdi")
			part.textContent = row[column(name)]
			return part
		}),
	)
	at("sentences").replaceChildren(
		...(data.marked.length ? data.marked : data.shown).map((name, k) =>
			sentence(row[column(name)], data.marked.length ? row[column(data.shown[k])] : null),
		),
	)
	at("remark").value = row[remark]
	for (const button of at("judgments").children) {
		button.setAttribute("aria-pressed", String(button.value === row[judgment]))
	}
	tell()
}

function tell() {
	const done = data.rows.filter(row => row[judgment]).length
	const lost = kept ? "" : "; this browser keeps nothing: save the sheet before you leave"
	at("progress").textContent = `${done} of ${data.rows.length} judged${lost}`
}

function go(to) {
	place = Math.min(Math.max(to, 0), data.rows.length - 1)
	show()
}

function judge(name) {
	data.rows[place][judgment] = name
	keep()
	if (name && place < data.rows.length - 1) go(place + 1)
	else show()
}

function openOne() {
	const count = data.rows.length
	for (let step = 1; step <= count; step += 1) {
		const to = (place + step) % count
		if (!data.rows[to][judgment]) {
			go(to)
			return
		}
	}
}

function cell(text) {
	const guarded = /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text
	return /[,;"\t\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded
}

function save() {
	const lines = [data.headings, ...data.rows].map(row => row.map(cell).join(data.divider))
	const link = document.createElement("a")
	link.href = URL.createObjectURL(new Blob([`${lines.join("\n")}\n`], {type: "text/plain"}))
	link.download = data.file
	link.click()
	setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

function act(event) {
	if (event.ctrlKey || event.altKey || event.metaKey) return
	if (event.target === at("remark")) {
		if (event.key === "Enter" || event.key === "Escape") event.target.blur()
		return
	}
	const number = named ? -1 : "0123456789".indexOf(event.key)
	const letter = data.letters.indexOf(event.key.toLowerCase())
	if (number === 0 || event.key === "Backspace") judge("")
	else if (number > 0 && number <= data.judgments.length) judge(data.judgments[number - 1])
	else if (letter >= 0) judge(data.judgments[letter])
	else if (event.key === "ArrowRight") go(place + 1)
	else if (event.key === "ArrowLeft") go(place - 1)
	else if (event.key === "n") openOne()
	else if (event.key === "r") at("remark").focus()
	else return
	event.preventDefault()
}

data.judgments.forEach((name, k) => {
	const button = document.createElement("button")
	button.type = "button"
	button.value = name
	button.textContent = `${named ? "" : `${k + 1} `}${name} ${data.meanings[k] || ""}`.trim()
	button.addEventListener("click", () => judge(name))
	at("judgments").append(button)
})
at("back").addEventListener("click", () => go(place - 1))
at("next").addEventListener("click", () => go(place + 1))
at("open").addEventListener("click", openOne)
at("save").addEventListener("click", save)
at("remark").addEventListener("input", event => {
	data.rows[place][remark] = event.target.value
	keep()
})
document.addEventListener("keydown", act)
restore()
const first = data.rows.findIndex(row => !row[judgment])
go(Math.max(first, 0))
