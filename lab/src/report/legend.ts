/** Explains the colours and marks of the charts, drawn as they are drawn there. */
import type { Run } from '../cell.ts'
import { type Markup, html } from './html.ts'

interface Mark {
  /** The class of its bar. */
  readonly kind: 'ours' | 'other' | 'limit'
  /** The mark that lies over the bar. */
  readonly over: Markup | null
  readonly words: string
  /** It is somewhere on the page. */
  readonly used: boolean
}

export function legendSection({ entries, scenarios, settings, criterion = [] }: Run): Markup {
  const marks: readonly Mark[] = [
    { kind: 'ours', over: null, words: 'Volant, on each of its adapters', used: true },
    { kind: 'other', over: null, words: 'every other framework or server', used: true },
    {
      kind: 'limit',
      over: null,
      words: 'replies made without JavaScript: what the machine can do at most; nobody is compared with it',
      used: entries.some(({ javascript }) => !javascript),
    },
    {
      kind: 'other',
      over: html`<u style="left:46%;right:22%"></u>`,
      words: '95 % interval of the median',
      used: settings.rounds > 1 || criterion.length > 0,
    },
    {
      kind: 'other',
      over: html`<s style="left:52%"></s><s style="left:62%"></s><s style="left:70%"></s>`,
      words: 'single processes, in charts of starts',
      used: scenarios.some(({ headline }) => headline === 'start'),
    },
  ]
  return html`<section id="legend">
    <h2>How to read the charts</h2>
    <ul class="legend">
      ${marks
        .filter(({ used }) => used)
        .map(
          ({ kind, over, words }) =>
            html`<li class="${kind}">
              <div class="track" aria-hidden="true"><b style="left:0%;width:62%"></b>${over}</div>
              <div>${words}</div>
            </li>`,
        )}
    </ul>
    <p class="note">
      In line charts an entry has one colour and one dash on the whole page; Volant’s lines are thick.
    </p>
  </section>`
}
