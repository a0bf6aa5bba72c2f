// The style sheet of a report's page: light and dark, on wide and narrow screens, and on paper.

export const STYLE = `
:root { color-scheme: light dark; --ink: #1c2430; --soft: #5b6676; --line: #dfe3e8; --ground: #f6f7f9; --card: #fff; --link: #0b5cad;
  --ok: #2f855a; --wait: #b7791f; --bad: #c53030; --other: #8793a3; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa5b4; --line: #333c49; --ground: #14181e; --card: #1c222b;
  --link: #7ab8f5; --ok: #48a577; --wait: #d69e3c; --bad: #ef6b6b; --other: #76818f; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 0 0 .4rem; font-size: 1.1rem; }
p { margin: .35rem 0; overflow-wrap: anywhere; max-width: 60rem; }
a { color: var(--link); }
.when, .rest, .none, section > p { color: var(--soft); }
section, .tiles > div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
section { margin-top: 1rem; padding: 1rem 1.15rem; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: .75rem; margin: 1.25rem 0 0; }
.tiles > div { display: flex; flex-direction: column-reverse; padding: .7rem 1rem; }
.tiles dt { color: var(--soft); font-size: .85rem; }
.tiles dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.2; font-variant-numeric: tabular-nums; }
nav { display: flex; flex-wrap: wrap; gap: .35rem 1rem; margin-top: 1rem; }
nav b, .count { font-variant-numeric: tabular-nums; }
.count { color: var(--soft); font-weight: 400; }
.beside { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: 0 1rem; }
table { border-collapse: collapse; }
th { text-align: left; font-weight: 600; }
th, td { padding: .3rem .75rem .3rem 0; vertical-align: top; }
thead th { white-space: nowrap; }
.list td { overflow-wrap: anywhere; min-width: 6.25rem; }
.list .key { min-width: 7.5rem; }
.list .n, .trend td { min-width: 0; }
.trend td:nth-child(3) { min-width: 8rem; }
.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.sum { width: 100%; max-width: 26rem; }
.sum + .sum { margin-top: .6rem; }
.time { white-space: nowrap; }
.sum td:last-child { padding-right: 0; }
.sum tfoot tr:first-child > * { border-top: 1px solid var(--line); }
.list { width: 100%; margin-top: .4rem; }
thead .n { text-align: right; }
.list th { color: var(--soft); font-size: .85rem; font-weight: 400; }
.list tbody tr { border-top: 1px solid var(--line); }
.key, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .87em; }
pre { margin: 0; white-space: pre-wrap; overflow-wrap: anywhere; max-width: 32rem; color: var(--soft); }
.bar { min-width: 9rem; width: 24%; white-space: nowrap; font-size: 0; padding: .6rem 0 0; }
i { display: inline-block; height: .75rem; }
i.ok { background: var(--ok); } i.wait { background: var(--wait); } i.bad { background: var(--bad); } i.other { background: var(--other); }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.1rem; margin: .2rem 0; padding: 0; list-style: none; color: var(--soft); font-size: .85rem; }
.legend i { width: .75rem; margin-right: .4rem; vertical-align: -1px; }
@media (max-width: 44rem) {
  main { padding: 1rem .75rem 2rem; }
  section { padding: .85rem .8rem; }
  .list thead { display: none; }
  .list, .list tbody, .list tr, .list td { display: block; width: auto; }
  .list tbody tr { padding: .5rem 0; }
  .list td { display: grid; grid-template-columns: 6.5rem minmax(0, 1fr); gap: .5rem; padding: .1rem 0; text-align: left; white-space: normal; }
  .list td::before { content: attr(data-label); color: var(--soft); font: .85rem/1.6 system-ui, sans-serif; }
  .list tbody .n { text-align: left; }
  .list td.bar { display: block; padding: .35rem 0; } .list td.bar::before { content: none; }
  .trend tr { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: .1rem .5rem; }
  .list td, .list .key, .trend td:nth-child(3) { min-width: 0; }
  .trend td { display: block; } .trend td::before { display: block; }
  .trend td:nth-child(2) { grid-column: span 2; } .trend td:nth-child(3), .trend td.bar { grid-column: 1 / -1; }
}
@media print {
  :root { color-scheme: light; --ink: #000; --soft: #444; --line: #bbb; --ground: #fff; --card: #fff; --link: #000; --ok: #2f855a; --wait: #b7791f; --bad: #c53030; --other: #8793a3; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  section { border: 0; padding: 0; margin-top: 1.4rem; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
  i { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
`;
