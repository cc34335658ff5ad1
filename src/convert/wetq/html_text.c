/* wetq: the parts that all pages of HTML have in common; text in them. */
#include "base/text.h"
#include "convert/wetq/html.h"

const char html_begin[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
    "script-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<style>\n"
    ":root{color-scheme:light dark;--bg:#fff;--fg:#1c1e21;--dim:#667;--in:#fff5cc;--cur:#ffd75e;--line:#d6d9de;"
    "--link:#0b57c4;--val:#146c2e;--panel:#f6f7f9}\n"
    "@media(prefers-color-scheme:dark){:root{--bg:#17191c;--fg:#e4e6ea;--dim:#9aa;--in:#38331c;--cur:#6b5a12;"
    "--line:#3a3e44;--link:#8ab8ff;--val:#7fd69a;--panel:#1f2226}}\n"
    "*{box-sizing:border-box}body{margin:0;height:100vh;display:flex;flex-direction:column;"
    "background:var(--bg);color:var(--fg);font:15px/1.45 system-ui,sans-serif}\n"
    "header{padding:.6rem 1rem;border-bottom:1px solid var(--line)}h1{font-size:1.05rem;margin:0}"
    "header p{margin:.2rem 0 0;color:var(--dim);font-size:.85rem}\n"
    "code,pre,.val,.l{tab-size:4;font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;font-size:13px}\n"
    "main{display:grid;grid-template-columns:minmax(0,1.55fr) minmax(20rem,1fr);gap:1rem;padding:0 1rem;flex:1;min-height:0}\n"
    "#steps{overflow:auto;padding:.8rem 0}\n"
    "#source{overflow:auto;padding:.8rem 0;min-width:0}h2{font-size:.95rem;margin:.2rem 0 .4rem}\n"
    ".file{width:max-content;min-width:100%;border:1px solid var(--line);border-radius:6px;margin-bottom:1rem;padding:.3rem 0}\n"
    ".l{display:flex;white-space:pre;min-height:1.45em;width:max-content;min-width:100%;padding-right:.6rem}"
    ".l>:first-child{flex:none;width:3.6rem;text-align:right;padding-right:.8rem;color:var(--dim)}\n"
    ".in{background:var(--in)}.cur{background:var(--cur)}.gap{color:var(--dim);padding-left:3.6rem}"
    ".l .v{color:var(--val);padding-left:2rem}.l .v small{color:var(--dim)}\n"
    "a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}"
    "a:focus-visible,summary:focus-visible{outline:2px solid var(--link);outline-offset:1px}\n"
    "section{display:none;background:var(--panel);border:1px solid var(--line);border-radius:6px;padding:.8rem 1rem}"
    "section:target{display:block}body:not(:has(section:target)) #i0{display:block}\n"
    "h3{font-size:.95rem;margin:0}h4{font-size:.85rem;margin:.8rem 0 .2rem;color:var(--dim)}"
    ".val{font-size:1rem;margin:.5rem 0;overflow-wrap:anywhere}.val b{font-weight:600}.val span{color:var(--val)}"
    "section pre{margin:.3rem 0;white-space:pre-wrap;overflow-wrap:anywhere}\n"
    "small{color:var(--dim)}nav{display:flex;gap:1rem;flex-wrap:wrap;font-size:.85rem}"
    "ol{margin:.2rem 0;padding-left:1.6rem}li{margin:.15rem 0;overflow-wrap:anywhere}details{margin-top:.6rem}"
    "summary{cursor:pointer;color:var(--dim);font-size:.85rem}kbd{border:1px solid var(--line);border-radius:3px;"
    "padding:0 .25rem;font-size:.8rem}\n"
    "@media(max-width:860px){main{display:flex;flex-direction:column;padding:0 .6rem;gap:0}"
    "#steps{order:-1;flex:none;max-height:50%;padding:.5rem 0}#source{flex:1;min-height:0}"
    ".l>:first-child{width:2.6rem;padding-right:.5rem}.gap{padding-left:2.6rem}header{padding:.5rem .6rem}}\n"
    "</style>\n";

/* Without it, the links work as they are. */
const char html_script[] =
    "<script>\n"
    "(function(){'use strict';\n"
    "function now(){return document.querySelector('section:target')||document.getElementById('i0')}\n"
    "function show(){var s=now(),c=document.querySelectorAll('.cur'),i,l;\n"
    "for(i=0;i<c.length;i++)c[i].classList.remove('cur');\n"
    "l=s&&document.getElementById(s.getAttribute('data-l'));\n"
    "if(l){l.classList.add('cur');l.scrollIntoView({block:'center',inline:'nearest'})}}\n"
    "function go(a){if(a)location.hash=a.getAttribute('href')}\n"
    "addEventListener('hashchange',show);\n"
    "addEventListener('keydown',function(e){var s=now(),d;\n"
    "if(e.ctrlKey||e.altKey||e.metaKey||!s)return;\n"
    "if(e.key>='1'&&e.key<='9')go(s.querySelectorAll('.made a')[e.key-1]);\n"
    "else if(e.key==='n')go(s.querySelector('a[rel=next]'));\n"
    "else if(e.key==='p')go(s.querySelector('a[rel=prev]'));\n"
    "else if(e.key==='b')history.back();\n"
    "else if(e.key==='c'||e.key==='a'){d=s.querySelector(e.key==='c'?'.control':'.address');\n"
    "if(d){d.open=!d.open;d.querySelector('summary').focus()}}});\n"
    "show()})();\n"
    "</script>\n";

void
html_text(struct buf *b, const char *s, size_t n, size_t most)
{
	size_t i = 0;

	while (i < n && i < most) {
		size_t k = text_character(s + i, n - i);

		if (!k)
			buf_str(b, "\xef\xbf\xbd");
		else if (k > 1)
			buf_add(b, s + i, k);
		else
			switch (s[i]) {
			case '&': buf_str(b, "&amp;"); break;
			case '<': buf_str(b, "&lt;"); break;
			case '>': buf_str(b, "&gt;"); break;
			case '"': buf_str(b, "&quot;"); break;
			case '\'': buf_str(b, "&#39;"); break;
			default: buf_u8(b, (uint8_t)s[i]);
			}
		i += k ? k : 1;
	}
	if (i < n)
		buf_str(b, "\xe2\x80\xa6");
}
