// Send files to a draft as bytes, with the progress.
import {api, AWAY, Fault, faultOf, headers, root} from "./manage.js"

// The files of what was dropped; of folders all that they hold, named by at most two parts.
export async function dropped(items) {
	const files = []
	const walk = async (entry, parent = "") => {
		if (entry.isFile) {
			const file = await new Promise((resolve, reject) => entry.file(resolve, reject))
			return files.push(named(file, parent + file.name))
		}
		const reader = entry.createReader()
		for (;;) {
			const part = await new Promise((resolve, reject) => reader.readEntries(resolve, reject))
			if (!part.length) return
			for (const inner of part) await walk(inner, `${entry.name}/`)
		}
	}
	for (const entry of [...items].map(item => item.webkitGetAsEntry()).filter(Boolean))
		await walk(entry)
	return files
}

export const named = (file, label) =>
	Object.assign(file, {label: label.split("/").slice(-2).join("/")})

// Send a file; `progress` gets the share that has gone. An XMLHttpRequest reports how far it is,
// fetch does not.
export async function send(draft, file, progress = () => {}) {
	const {n} = await api("POST", `drafts/${draft}/files`, {
		name: file.label ?? file.name,
		size: file.size,
	})
	await new Promise((resolve, reject) => {
		const request = new XMLHttpRequest()
		request.open("PUT", `${root}api/v1/drafts/${draft}/files/${n}`)
		for (const [name, value] of Object.entries(
			headers({"content-type": "application/octet-stream"}),
		))
			request.setRequestHeader(name, value)
		request.upload.onprogress = ({loaded, total}) => progress(total ? loaded / total : 1)
		request.onerror = () => reject(new Fault({error: "offline", message: AWAY}))
		request.onload = () =>
			request.status < 300 ? resolve() : reject(faultOf(request.status, request.responseText))
		request.send(file)
	})
}
