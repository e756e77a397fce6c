/**
 * Decodes names of characters in Markdown, such as `&eacute;`: those of HTML 4 that are written. Others stay as they
 * are. It replaces the package `decode-named-character-reference`, whose version for browsers assigns innerHTML, which
 * the content security policy refuses, and whose other version has 2,000 names.
 */

const LATIN_1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml".split(
    " ",
  );
const FIRST = 160;

const OTHERS: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", AMP: "&", LT: "<", GT: ">", QUOT: '"' },
  ...{ ndash: "–", mdash: "—", lsquo: "‘", rsquo: "’", ldquo: "“", rdquo: "”", sbquo: "‚", bdquo: "„" },
  ...{ hellip: "…", bull: "•", dagger: "†", permil: "‰", prime: "′", Prime: "″", euro: "€", trade: "™" },
  ...{ larr: "←", uarr: "↑", rarr: "→", darr: "↓", harr: "↔", lArr: "⇐", rArr: "⇒", hArr: "⇔" },
  ...{ infin: "∞", minus: "−", ne: "≠", le: "≤", ge: "≥", asymp: "≈", equiv: "≡", sum: "∑", prod: "∏" },
  ...{ radic: "√", int: "∫", part: "∂", nabla: "∇", isin: "∈", notin: "∉", cap: "∩", cup: "∪", sub: "⊂" },
  ...{ forall: "∀", exist: "∃", empty: "∅", and: "∧", or: "∨", sdot: "⋅", OElig: "Œ", oelig: "œ" },
  ...{ alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", eta: "η", theta: "θ", kappa: "κ" },
  ...{ lambda: "λ", mu: "μ", pi: "π", rho: "ρ", sigma: "σ", tau: "τ", phi: "φ", chi: "χ", psi: "ψ" },
  ...{ omega: "ω", Gamma: "Γ", Delta: "Δ", Theta: "Θ", Lambda: "Λ", Pi: "Π", Sigma: "Σ", Omega: "Ω" },
  ...{ ensp: "\u2002", emsp: "\u2003", thinsp: "\u2009", zwnj: "\u200c", zwj: "\u200d" },
};

/** Returns false for an unknown name. */
export function decodeNamedCharacterReference(name: string): string | false {
  if (Object.hasOwn(OTHERS, name)) return OTHERS[name] ?? false;
  const position = LATIN_1.indexOf(name);
  return position >= 0 && String.fromCharCode(FIRST + position);
}
