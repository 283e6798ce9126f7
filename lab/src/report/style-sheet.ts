/** The looks of the page: one column on a phone, contents beside it where there is room, light and dark. */

/** Colours of lines `--s0` to `--s7` differ in lightness too, for those who see hues differently. */
export const styleSheet = `
:root{color-scheme:light dark;--ground:#fbfbfc;--raised:#fff;--ink:#16191d;--soft:#535b65;--rule:#d9dde2;--faint:#eceff2;--link:#0b57a4;--ours:#0b62b8;--other:#808a94;--limit:#9a5b00;--good:#0b6b3a;--bad:#a8201a;--s0:#0b62b8;--s1:#c2410c;--s2:#0b7a55;--s3:#9b2c86;--s4:#7a5c00;--s5:#0e7c9b;--s6:#44403c;--s7:#c01f4e}
@media (prefers-color-scheme:dark){:root{--ground:#101317;--raised:#171b20;--ink:#e7eaee;--soft:#a3acb7;--rule:#323941;--faint:#22272d;--link:#7db9ff;--ours:#4c9cf0;--other:#7d8792;--limit:#e0a13c;--good:#5fce94;--bad:#ff8f85;--s0:#5aa7ff;--s1:#ff9055;--s2:#43cf9b;--s3:#e58bd3;--s4:#dcb840;--s5:#4fc9e6;--s6:#c9c4bd;--s7:#ff7fa0}}
*{box-sizing:border-box}
html{scroll-padding-top:1rem;-webkit-text-size-adjust:100%}
body{margin:0 auto;max-width:82rem;padding:1.5rem clamp(.9rem,3vw,2rem) 4rem;background:var(--ground);color:var(--ink);font:15px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .5rem;letter-spacing:-.01em}
h2{font-size:1.3rem;line-height:1.25;margin:0 0 .4rem;letter-spacing:-.01em}
h3{font-size:1.08rem;margin:0 0 .3rem}
h4{font-size:.92rem;margin:1.6rem 0 .4rem;color:var(--soft);font-weight:600}
p{margin:.3rem 0 .8rem;max-width:46rem}
a{color:var(--link);text-underline-offset:.15em}
a:focus-visible,button:focus-visible,summary:focus-visible,input:focus-visible,.scroll:focus-visible{outline:2px solid var(--link);outline-offset:2px;border-radius:2px}
code,pre{font:.86em/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace}
pre{margin:0;padding:.55rem .7rem;background:var(--faint);border-radius:5px;white-space:pre;width:max-content;min-width:100%}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:.5rem;background:var(--raised);padding:.4rem .7rem;z-index:3}
.lead-in{font-size:1.02rem}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,17rem),1fr));gap:.1rem 1.5rem;margin:1rem 0 0;padding:.8rem 0;border-block:1px solid var(--rule);font-size:.87rem}
.facts div{display:flex;gap:.6rem}.facts dt{color:var(--soft);flex:0 0 5.2rem}.facts dd{margin:0}
nav{font-size:.88rem;margin:1.2rem 0 0}
nav ul{list-style:none;margin:0;padding:0}nav>ul>li{margin:.25rem 0}nav ul ul{padding-left:.8rem;margin:.1rem 0 .4rem}
nav a{color:inherit;text-decoration:none;display:inline-block;padding:.12rem 0}nav a:hover{text-decoration:underline}nav ul ul a{color:var(--soft)}
main>section{margin-top:2.6rem}
article{border-top:1px solid var(--rule);margin-top:1.6rem;padding-top:1.2rem}
.original{margin-bottom:.2rem;color:var(--soft);font-size:.88rem}
.note{color:var(--soft);font-size:.84rem;max-width:54rem}
.statements{padding-left:1.1rem;margin:.4rem 0 .8rem;max-width:54rem}.statements li{margin:.3rem 0}
.scroll{overflow-x:auto;margin:.6rem 0;max-width:100%}
table{border-collapse:separate;border-spacing:0;font-size:.86rem;line-height:20px;min-width:100%;background:var(--raised)}
caption{text-align:left;color:var(--soft);padding:.3rem 0}
th,td{padding:5px .5rem;text-align:right;vertical-align:top;white-space:nowrap}
thead th{white-space:normal;overflow-wrap:normal;color:var(--soft);font-weight:600;vertical-align:bottom;border-bottom:2px solid var(--rule)}tbody tr+tr>*{border-top:1px solid var(--rule)}
th:first-child{text-align:left;position:sticky;left:0;background:var(--raised)}
tbody th{font-weight:500}
tr.ours th{font-weight:700;color:var(--ours)}tr.limit th,tr.limit td{color:var(--limit)}
th small,td small{display:block;color:var(--soft);font-weight:400;font-size:.86em;line-height:16px}
thead th small{display:inline}
table.plain td{text-align:left}
.why{text-align:left;white-space:normal;color:var(--soft);min-width:12rem;max-width:34rem}
tr.absent th,tr.absent .why{color:var(--soft)}tr.problem:not(.absent) th,tr.problem:not(.absent) .why{color:var(--bad)}td.bad{color:var(--bad);font-weight:700}
table.summary td,table.summary th{text-align:left}table.summary th:first-child{white-space:normal;min-width:11rem;max-width:24rem}
em{font-style:normal;font-weight:600}.ahead{color:var(--good)}.behind{color:var(--bad)}.tie,.undecided{color:var(--soft)}
thead button{all:unset;cursor:pointer;font:inherit;color:inherit}thead button:hover{color:var(--ink)}
th[aria-sort=ascending] button::after{content:' \\2191'}th[aria-sort=descending] button::after{content:' \\2193'}
figure{margin:.7rem 0 1rem}figcaption{font-size:.86rem;color:var(--soft);margin-bottom:.35rem}
.bars{display:grid;grid-template-columns:minmax(7rem,max-content) minmax(0,1fr) max-content;column-gap:.8rem}.bars figcaption,.bars ol,.bars li,.axis{grid-column:1/-1}
.bars ol{list-style:none;margin:0;padding:0}
.bars ol,.bars li,.axis{display:grid;grid-template-columns:subgrid;align-items:center}
.bars li{padding:.12rem 0;font-size:.88rem;line-height:1.3}
.bars .who small{color:var(--soft);font-weight:400}.bars .limit{margin-top:.5rem}.bars .limit~.limit{margin-top:0}.bars .ours .who{font-weight:700;color:var(--ours)}
.track{position:relative;height:1.05rem;background:var(--faint);border-radius:2px}
.track b{position:absolute;inset:0 auto 0 0;background:var(--other);border-radius:2px}
.ours .track b{background:var(--ours)}.limit .track b{background:repeating-linear-gradient(135deg,var(--limit) 0 5px,transparent 5px 8px);border:1px solid var(--limit)}.limit .who{color:var(--limit)}
.track u{position:absolute;top:50%;height:0;border-top:2px solid var(--ink);min-width:2px}
.track u::before,.track u::after{content:'';position:absolute;top:-5px;height:8px;border-left:2px solid var(--ink)}.track u::before{left:-1px}.track u::after{right:-1px}
.track s{position:absolute;top:50%;width:7px;height:7px;margin:-3.5px 0 0 -3.5px;border-radius:50%;background:var(--raised);border:1.5px solid var(--ink);opacity:.85}
.legend{list-style:none;margin:.6rem 0;padding:0;display:grid;gap:.35rem;font-size:.88rem}.legend li{display:grid;grid-template-columns:5rem minmax(0,1fr);gap:.8rem;align-items:center}
.bars .value{font-size:.84rem;white-space:nowrap;text-align:right}
.axis{font-size:.76rem;color:var(--soft)}.ticks{position:relative;height:1.3rem;border-top:1px solid var(--rule)}.ticks i{position:absolute;white-space:nowrap;top:.15rem;transform:translateX(-50%);font-style:normal}.ticks i:first-child{transform:none}.ticks i:last-child{transform:translateX(-100%)}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,22rem),1fr));gap:.4rem 1.6rem;align-items:start}
.lines{margin:.4rem 0}.lines svg{display:block;width:100%;max-width:34rem;height:auto;font:12px system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif}
svg text{fill:var(--soft)}.grid{stroke:var(--rule);stroke-width:1;fill:none}.base{stroke:var(--soft);fill:none}
.line .stroke{fill:none;stroke:var(--c);stroke-width:1.4;stroke-linejoin:round}.line.ours .stroke{stroke-width:2.4}.line circle{fill:var(--c)}.line .lead{stroke:var(--c);stroke-width:.7;opacity:.55;stroke-dasharray:1.5 2}.line .name{fill:var(--c);font-weight:500}.line.ours .name{font-weight:700}.quiet circle{fill:transparent}
.chosen .line:not(.on){opacity:.22}.line.on .stroke{stroke-width:3}
.s0{--c:var(--s0)}.s1{--c:var(--s1)}.s2{--c:var(--s2)}.s3{--c:var(--s3)}.s4{--c:var(--s4)}.s5{--c:var(--s5)}.s6{--c:var(--s6)}.s7{--c:var(--s7)}
.d1 .stroke{stroke-dasharray:7 3}.d2 .stroke{stroke-dasharray:2 3}.d3 .stroke{stroke-dasharray:8 3 2 3}
details{margin:.5rem 0}summary{cursor:pointer;font-size:.88rem;color:var(--link);padding:.2rem 0;width:fit-content}
article>details{border-left:2px solid var(--rule);padding-left:.8rem}
.raw table{font-size:.78rem}.raw .why{min-width:22rem}
.filter div{display:flex;flex-wrap:wrap;gap:.15rem .9rem;padding:.3rem 0}.filter label{white-space:nowrap}.filter button{font:inherit;background:var(--raised);color:var(--ink);border:1px solid var(--rule);border-radius:4px;padding:.05rem .55rem;cursor:pointer}
.to-top{position:fixed;right:.8rem;bottom:.8rem;z-index:1;padding:.3rem .7rem;border:1px solid var(--rule);border-radius:1rem;background:var(--raised);font-size:.84rem;text-decoration:none}nav .up{display:none}
[data-off]{display:none!important}
.method{margin:.6rem 0 1rem;max-width:54rem}.method div{margin:.55rem 0}.method dt{font-weight:600}.method dd{margin:0;color:var(--soft)}
#tip{position:fixed;top:0;left:0;z-index:2;pointer-events:none;max-width:min(22rem,90vw);background:var(--ink);color:var(--ground);font-size:.82rem;line-height:1.35;padding:.3rem .55rem;border-radius:4px}
@media (min-width:66rem){.layout{display:grid;grid-template-columns:13.5rem minmax(0,1fr);gap:2.4rem}.to-top{display:none}nav .up{display:block}nav{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow-y:auto;margin-top:2.6rem}}
@media (max-width:40rem){body{padding-top:1rem}.bars{display:block}.bars ol{display:block}.bars li{grid-template-columns:1fr auto;gap:.1rem .8rem;grid-template-areas:'who value' 'track track';padding:.25rem 0}.bars .who{grid-area:who}.bars .track{grid-area:track}.legend{list-style:none;margin:.6rem 0;padding:0;display:grid;gap:.35rem;font-size:.88rem}.legend li{display:grid;grid-template-columns:5rem minmax(0,1fr);gap:.8rem;align-items:center}
.bars .value{grid-area:value}.axis{grid-template-columns:1fr}.axis>span{display:none}nav>ul{display:flex;flex-wrap:wrap;gap:.1rem 1rem}nav ul ul{display:none}th,td{padding:5px .45rem}}
@media print{.filter,.skip,.to-top,#tip{display:none}details{display:none}body{max-width:none}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
`
