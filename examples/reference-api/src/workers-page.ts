/** The part of the page at `/live` that shows the workers. The script in `page/workers.js` writes the same into it. */
import type { WorkerLoad, Workers } from './workers.ts'

/** The columns: the name of the class, the title, and what stands below it. */
const columns: readonly [name: string, title: string, read: (worker: WorkerLoad) => string][] = [
  ['slot', 'Worker', ({ worker }) => String(worker)],
  ['pid', 'Process', ({ pid }) => String(pid)],
  ['state', 'State', ({ state, isStuck }) => (isStuck ? 'stuck' : state)],
  ['up', 'Up', ({ uptime }) => `${Math.floor(uptime)} s`],
  ['open', 'Open', ({ connections }) => String(connections)],
  ['rate', 'Requests/s', ({ rate }) => (rate === null ? '–' : String(Math.round(rate)))],
  ['load', 'Processor', ({ load }) => (load === null ? '–' : `${Math.round(load * 100)} %`)],
  ['memory', 'Memory', ({ memory }) => (memory === 0 ? '–' : `${Math.round(memory / 2 ** 20)} MB`)],
]

export function workersSection(all: Workers, canRestart: boolean): string {
  const { size, workers, supervisor } = all
  const heads = columns.map(([, title]) => `<th scope="col" role="columnheader">${title}</th>`)
  const button = canRestart ? '<button type="button" id="restart">Restart all workers</button>' : ''
  return `<section id="workers" aria-labelledby="workers-title">
<div class="bar">
<div>
<h2 id="workers-title">Workers</h2>
<p class="note"><b id="ready">${workers.filter(({ state }) => state === 'ready').length}</b> of ${size} ready <i>·</i> <span>restarts: <b id="restarts">${restartsOf(all)}</b></span> <i>·</i> <span>supervisor: process ${supervisor}</span></p>
</div>
${button}
</div>
<p id="roll" role="status">${all.isRolling ? 'The workers are replaced, one after the other' : ''}</p>
<table role="table">
<thead role="rowgroup"><tr role="row">${heads.join('')}</tr></thead>
<tbody role="rowgroup">
${workers.map((worker) => row(worker, all.here)).join('\n')}
</tbody>
</table>
<template id="worker"><tr role="row">${cells(() => '')}</tr></template>
<p class="note">The charts show requests, connections, processor and memory of all workers together. The time to reply, the memory of JavaScript, the event loop and the pages that look on are of the worker that sends the figures: <span class="mark">it has this mark</span>.</p>
</section>`
}

function row(worker: WorkerLoad, here: number): string {
  const state = worker.isStuck ? 'stuck' : worker.state
  return `<tr role="row" data-pid="${worker.pid}" data-state="${state}"${worker.pid === here ? ' class="here"' : ''}>${cells((read) => read(worker))}</tr>`
}

function cells(text: (read: (worker: WorkerLoad) => string) => string): string {
  return columns
    .map(
      ([name, title, read]) =>
        `<td role="cell" class="${name}" data-title="${title}"><span>${text(read)}</span></td>`,
    )
    .join('')
}

/** Such as `4 by roll, 1 by crash`. */
function restartsOf({ restarts }: Workers): string {
  const told = Object.entries(restarts).filter(([, count]) => count > 0)
  return told.length === 0 ? 'none' : told.map(([reason, count]) => `${count} by ${reason}`).join(', ')
}
