"use strict";
// Whether a release keeps its promises. The page reads the files that it is given, asks nobody for
// anything, and holds each privacy model of the manifest against the classes of the table, by its
// definition in the literature. What is not examined is never said to hold. This text runs twice:
// on the page, and in a worker, which reads and counts.

class Unexamined extends Error {}

const FORGIVEN = 1e-9; // sums are rounded

const atMost = (found, bound) => [found, found <= bound + FORGIVEN];

// ---- Models of a class: q are its records by sensitive value, p the shares of the table. ----

const sum = (numbers) => {
  let total = 0;
  for (const n of numbers) total += n;
  return total;
};
const most = (numbers) => {
  let best = -Infinity;
  for (const n of numbers) best = Math.max(best, n);
  return best;
};
const records = (q) => sum(q.values());

// The share of each value of a class there, and in the table.
function shares(q, p) {
  const n = records(q);
  return [...q].map(([value, count]) => [count / n, p.get(value)]);
}

// H = - sum q log2 q, in bits. Shannon (1948).
const entropy = (q) => -sum(shares(q, q).map(([share]) => share * Math.log2(share)));

// n >= k. Samarati (2001), Definition 2.3.
const kAnonymity = (q, p, { k }) => [records(q), records(q) >= k];

// 1 / n <= risk, the risk of a prosecutor. El Emam (2013).
const highestRisk = (q, p, { risk }) => atMost(1 / records(q), risk);

// At least l values. Machanavajjhala et al. (2007), Section 3.
const distinctL = (q, p, { l }) => [q.size, q.size >= l];

// H >= log2 l. Machanavajjhala et al. (2007), Definition 4.1.
function entropyL(q, p, { l, estimator = "plug-in" }) {
  if (estimator !== "plug-in") throw new Unexamined("it estimates the entropy of a population");
  return [2 ** entropy(q), entropy(q) >= Math.log2(l) - FORGIVEN];
}

// r_1 < c (r_l + ... + r_m). Machanavajjhala et al. (2007), Definition 4.2.
function recursiveL(q, p, { c, l }) {
  if (!Number.isInteger(l)) throw new Unexamined("l is no whole number");
  const falling = [...q.values()].sort((one, other) => other - one);
  const tail = sum(falling.slice(l - 1));
  const ratio = tail ? falling[0] / tail : Infinity;
  return [ratio, ratio < c];
}

// max q <= alpha, and n >= k. Wong et al. (2006), Definition 3, of every value.
const alphaK = (q, p, { alpha, k }) =>
  atMost(records(q) >= k ? most(q.values()) / records(q) : Infinity, alpha);

// The distance of q from p is at most t. Li et al. (2007), Definition 2, Section 3.1.
// kl: sum q log2 (q / p); equal: sum |q - p| / 2; ordered: sum |q - p, added up| / (m - 1).
function tCloseness(q, p, { t, distance, order = null }) {
  if (distance === "kl") return atMost(sum(shares(q, p).map(([a, b]) => a * Math.log2(a / b))), t);
  if (distance === "equal") return atMost(sum(shares(q, p).map(([a, b]) => Math.max(a - b, 0))), t);
  if (order === null && [...p.keys()].every((value) => NUMBER.test(value))) {
    order = [...p.keys()].sort((one, other) => Number(one) - Number(other));
  }
  const listed = new Set(Array.isArray(order) ? order : []);
  if (
    distance !== "ordered" ||
    [...p.keys()].some((value) => !listed.has(value)) ||
    listed.size < order.length
  ) {
    throw new Unexamined("the manifest has no order of the values");
  }
  const n = records(q);
  let upto = 0,
    work = 0;
  for (const value of order) {
    upto += (q.get(value) ?? 0) / n - (p.get(value) ?? 0);
    work += Math.abs(upto);
  }
  return atMost(work / Math.max(order.length - 1, 1), t);
}

// max (q - p) / p <= beta. Cao and Karras (2012), Definition 2.
const basicBeta = (q, p, { beta }) => atMost(most(shares(q, p).map(([a, b]) => (a - b) / b)), beta);

// (q - p) / p <= min(beta, -ln p) of every value. Cao and Karras (2012), Definition 3.
function enhancedBeta(q, p, { beta }) {
  const gains = shares(q, p).map(([a, b]) => [(a - b) / b, -Math.log(b)]);
  return atMost(
    most(gains.map(([gain, granted]) => (atMost(gain, granted)[1] ? gain : Infinity))),
    beta,
  );
}

// max log2 q / p <= epsilon. Saeidian et al. (2022).
const pointwiseMaximalLeakage = (q, p, { epsilon }) =>
  atMost(most(shares(q, p).map(([a, b]) => Math.log2(a / b))), epsilon);

// |log2 q / p| <= delta of every value of the table. Brickell and Shmatikov (2008).
const deltaDisclosure = (q, p, { delta }) =>
  atMost(
    q.size === p.size ? most(shares(q, p).map(([a, b]) => Math.abs(Math.log2(a / b)))) : Infinity,
    delta,
  );

// max q - max p <= gain, of the likeliest value. Smith (2009), of each class.
const bayesianGain = (q, p, { gain }) =>
  atMost(most(q.values()) / records(q) - most(p.values()), gain);

// max (q - p) <= gain, of any value.
const valueGain = (q, p, { gain }) => atMost(most(shares(q, p).map(([a, b]) => a - b)), gain);

// ---- Models of the table as a whole: q of each class. ----

// The mean over records of 1 / n, the risk of a marketer. El Emam (2013).
const averageRisk = (groups, p, { risk }) => atMost(groups.length / sum(groups.map(records)), risk);

// The mean over records of sum q log2 (q / p). Bezzi (2010), Equations 1, 2 and 8.
const meanInformation = (groups, p, { bits }) =>
  atMost(
    sum(groups.map((q) => records(q) * tCloseness(q, p, { t: 0, distance: "kl" })[0])) /
      sum(groups.map(records)),
    bits,
  );

// max 1 - T n / N H(q) / H(p), of T classes. Bkakria et al. (2021), Definition 2.
function itpr(groups, p, { risk }) {
  const whole = sum(groups.map(records)) * entropy(p);
  const left = groups.length * -most(groups.map((q) => -records(q) * entropy(q)));
  return atMost(whole ? 1 - left / whole : 0, risk);
}

// The same where every record has a value of its own: its entropy is log2 n.
function reidentificationItpr(groups, p, { risk }) {
  const n = sum(groups.map(records));
  const left = groups.length * -most(groups.map((q) => -records(q) * Math.log2(records(q))));
  return atMost(n > 1 ? 1 - left / (n * Math.log2(n)) : 0, risk);
}

// Each model with its parameters. Those of sizes alone are about no attribute.
const MODELS = new Map([
  ["k-anonymity", { measure: kAnonymity, parameters: ["k"], sizes: true, least: true }],
  ["highest-reidentification-risk", { measure: highestRisk, parameters: ["risk"], sizes: true }],
  [
    "average-reidentification-risk",
    { measure: averageRisk, parameters: ["risk"], sizes: true, whole: true },
  ],
  [
    "reidentification-itpr",
    { measure: reidentificationItpr, parameters: ["risk"], sizes: true, whole: true },
  ],
  ["distinct-l-diversity", { measure: distinctL, parameters: ["l"], least: true }],
  [
    "entropy-l-diversity",
    { measure: entropyL, parameters: ["l"], optional: ["estimator"], least: true },
  ],
  ["recursive-l-diversity", { measure: recursiveL, parameters: ["c", "l"] }],
  ["alpha-k-anonymity", { measure: alphaK, parameters: ["alpha", "k"] }],
  ["t-closeness", { measure: tCloseness, parameters: ["t", "distance"], optional: ["order"] }],
  ["basic-beta-likeness", { measure: basicBeta, parameters: ["beta"] }],
  ["enhanced-beta-likeness", { measure: enhancedBeta, parameters: ["beta"] }],
  ["delta-disclosure", { measure: deltaDisclosure, parameters: ["delta"] }],
  ["pointwise-maximal-leakage", { measure: pointwiseMaximalLeakage, parameters: ["epsilon"] }],
  ["bayesian-gain", { measure: bayesianGain, parameters: ["gain"] }],
  ["value-gain", { measure: valueGain, parameters: ["gain"] }],
  ["mean-information", { measure: meanInformation, parameters: ["bits"], whole: true }],
  ["itpr", { measure: itpr, parameters: ["risk"], whole: true }],
]);

// ---- Values that may be one to a reader. ----

const NUMBER = /^[+-]?([0-9]{1,99}[.]?[0-9]{0,99}|[.][0-9]{1,99})(e[+-]?[0-9]{1,2})?$/;
const OTHER =
  /^([+-]?[0-9.].*(:|[-/. \\].*[-/. \\])|[+-]?(0[xb]|[0-9.]+(e.?[0-9]+)?$|nan\()|epoch)/;
const WORDS = new Map([
  ...["na", "nan", "null", "none", "<na>", "nana", "1ind", "1qnan"].map((word) => [word, ""]),
  ...["true", "t", "yes", "y"].map((word) => [word, 1]),
  ...["false", "f", "no", "n"].map((word) => [word, 0]),
  ["inf", Infinity],
  ["infinity", Infinity],
]);
const BLANK =
  "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
const OUTER = new RegExp(`^[${BLANK}]+|[${BLANK}]+$`, "g");
const INNER = new RegExp(`[${BLANK}]+`, "g");

// Whether no two values may be one, such as 1 and 1.0, HIV and hiv, NA and none.
function spelledApart(values) {
  const found = new Set();
  for (const value of values) {
    const folded = value.normalize("NFKD").toUpperCase().toLowerCase();
    let text = folded.replace(INNER, " ").replace(/^ | $/g, "");
    text = text.replace(/[^\p{L}\p{N}+<>=.\-/:( \\]/gu, "");
    const number = NUMBER.test(text),
      word = text.replace(/[^a-z0-9+<>=]/g, "");
    if (value.includes("&") || /[^ -~]/.test(text) || (!number && OTHER.test(text))) return false;
    found.add(number ? Number(text) + 0 : WORDS.has(word) ? WORDS.get(word) : word);
  }
  return found.size === values.size;
}

// ---- Judging ----

function judged(model, parameters, groups) {
  const p = new Map();
  for (const q of groups.values())
    for (const [value, n] of q) p.set(value, (p.get(value) ?? 0) + n);
  const total = records(p);
  for (const [value, n] of p) p.set(value, n / total);
  if (model.whole) {
    const [found, fine] = model.measure(
      [...groups.values()].filter((q) => q.size),
      p,
      parameters,
    );
    return { found, fine, label: null };
  }
  let worst = null;
  for (const [label, q] of groups) {
    // A class in which nobody has a value comes off worst.
    const [found, fine] = q.size
      ? model.measure(q, p, parameters)
      : [model.least ? 0 : Infinity, false];
    const worse =
      worst === null ||
      (fine === worst.fine ? (model.least ? found < worst.found : found > worst.found) : !fine);
    if (worse) worst = { found, fine, label };
  }
  return worst;
}

const BEYOND = "it is about more than the classes of the table by one attribute";

// Whether a promise of the manifest holds; null where that is not known.
function promised(promise, manifest, groups) {
  const about = promise.attribute,
    given = Object.entries(promise.parameters);
  const bounds = given.map(([key, value]) => `${key} = ${JSON.stringify(value)}`);
  const what = [promise.model, ...bounds].join(", ");
  const named = Array.isArray(about) ? about.join(" and ") : about;
  const row = { what: about === null ? what : `${what}, of ${named}` };
  try {
    const model = MODELS.get(promise.model);
    if (!model || Boolean(model.sizes) !== (about === null) || Array.isArray(about))
      throw new Unexamined(BEYOND);
    const parameters = new Map(given);
    const allowed = [...model.parameters, ...(model.optional ?? [])];
    if (
      given.some(([key]) => !allowed.includes(key)) ||
      model.parameters.some((key) => !parameters.has(key))
    ) {
      throw new Unexamined(BEYOND);
    }
    for (const [key, value] of given) {
      const least = key === "k" || key === "l" ? 1 : 0;
      if (
        !["distance", "estimator", "order"].includes(key) &&
        !(typeof value === "number" && value >= least && value < Infinity)
      ) {
        throw new Unexamined(BEYOND);
      }
    }
    let own = groups.get(about);
    const values = new Set();
    for (const q of own.values()) for (const value of q.keys()) values.add(value);
    if (about !== null && !spelledApart(values))
      throw new Unexamined("some of the values may be one to a reader");
    if (about !== null && manifest.columns.missing === "gap" && values.size > 1) {
      // "" counts as nothing
      own = new Map(
        [...own].map(([label, q]) => [label, new Map([...q].filter(([value]) => value !== ""))]),
      );
    }
    const worst = judged(model, Object.fromEntries(parameters), own);
    const persons =
      Object.keys(manifest.person ?? {}).length > 0 ||
      (manifest.person_numbers ?? null) !== null ||
      (about !== null && Object.hasOwn(manifest.items ?? {}, about));
    if (worst.fine && persons)
      throw new Unexamined("it is about persons or items, which the table does not show");
    const told = promise.worst;
    const alike =
      typeof told === "number" &&
      Math.abs(told - worst.found) <=
        Math.max(FORGIVEN * Math.max(Math.abs(told), Math.abs(worst.found)), FORGIVEN);
    row.holds = worst.fine && alike;
    const differs = alike ? "" : `; the manifest says ${JSON.stringify(told)}`;
    row.why = `${Number(worst.found.toPrecision(10))}${differs}`;
    row.label = worst.label;
    row.worst = worst.found;
  } catch (error) {
    row.holds = null;
    row.why = error instanceof Unexamined ? error.message : "its parameters are not known here";
  }
  return row;
}

// ---- Reading ----

const LONGEST = 1e6; // characters of a field

// Where a reader of CSV is: before a field, in one, in a quoted one, or behind that.
const START = 0,
  PLAIN = 1,
  QUOTED = 2,
  CLOSED = 3;
const QUOTE = 34,
  FEED = 10,
  RETURN = 13;

// Records of CSV, one after the other, as RFC 4180 has them.
class Csv {
  constructor(separator, take) {
    if (typeof separator !== "string" || !/^[^"\r\n]$/.test(separator))
      throw new Unexamined("the separator of the table is no single character");
    this.separator = separator.charCodeAt(0);
    this.take = take;
    this.fields = [];
    this.field = "";
    this.state = START;
    this.returned = false;
  }

  feed(text) {
    const { separator } = this;
    let { state } = this,
      begin = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      if (state === QUOTED) {
        if (code === QUOTE) {
          this.field += text.slice(begin, at);
          state = CLOSED;
        }
        continue;
      }
      if (code === FEED && this.returned && state === START && !this.fields.length) {
        this.returned = false;
      } else if (code === separator) {
        this.end(state === PLAIN ? text.slice(begin, at) : "");
        state = START;
      } else if (code === FEED || code === RETURN) {
        if (state === START && !this.fields.length)
          throw new Unexamined("the table has an empty line");
        this.end(state === PLAIN ? text.slice(begin, at) : "");
        state = START;
        this.take(this.fields);
        this.fields = [];
        this.returned = code === RETURN;
      } else if (state === START) {
        this.returned = false;
        state = code === QUOTE ? QUOTED : PLAIN;
        begin = code === QUOTE ? at + 1 : at;
      } else if (state === CLOSED) {
        if (code !== QUOTE) throw new Unexamined("the table has text behind a quotation mark");
        this.field += '"';
        state = QUOTED;
        begin = at + 1;
      }
    }
    if (state === QUOTED || state === PLAIN) this.field += text.slice(begin);
    if (this.field.length > LONGEST) throw new Unexamined("a field of the table is too long");
    this.state = state;
  }

  end(rest) {
    this.fields.push(this.field === "" ? rest : this.field + rest);
    this.field = "";
  }

  close() {
    if (this.state === QUOTED) throw new Unexamined("the table ends within quotation marks");
    if (this.state !== START || this.fields.length) {
      this.end("");
      this.take(this.fields);
    }
  }
}

// SHA-256 of a stream (FIPS 180-4), since that of the browser wants the whole file at once.
class Sha256 {
  static first = (number, root) => {
    const primes = [];
    for (let n = 2; primes.length < number; n += 1)
      if (primes.every((prime) => n % prime)) primes.push(n);
    return Uint32Array.from(primes, (prime) => (prime ** (1 / root) % 1) * 2 ** 32);
  };
  static K = Sha256.first(64, 3);

  constructor() {
    this.state = Sha256.first(8, 2);
    this.words = new Uint32Array(64);
    this.left = new Uint8Array(0);
    this.bytes = 0;
  }

  update(bytes) {
    this.bytes += bytes.length;
    let all = bytes;
    if (this.left.length) {
      all = new Uint8Array(this.left.length + bytes.length);
      all.set(this.left);
      all.set(bytes, this.left.length);
    }
    const whole = all.length - (all.length % 64);
    for (let at = 0; at < whole; at += 64) this.block(all, at);
    this.left = all.slice(whole);
  }

  block(bytes, at) {
    const w = this.words,
      K = Sha256.K;
    for (let i = 0; i < 16; i += 1) {
      const j = at + 4 * i;
      w[i] = (bytes[j] << 24) | (bytes[j + 1] << 16) | (bytes[j + 2] << 8) | bytes[j + 3];
    }
    for (let i = 16; i < 64; i += 1) {
      const x = w[i - 15],
        y = w[i - 2];
      const s = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
      const t = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
      w[i] = (w[i - 16] + s + w[i - 7] + t) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.state;
    for (let i = 0; i < 64; i += 1) {
      const s = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const one = (h + s + ((e & f) ^ (~e & g)) + K[i] + w[i]) | 0;
      const t = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const two = (t + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + one) | 0;
      d = c;
      c = b;
      b = a;
      a = (one + two) | 0;
    }
    const s = this.state;
    s[0] += a;
    s[1] += b;
    s[2] += c;
    s[3] += d;
    s[4] += e;
    s[5] += f;
    s[6] += g;
    s[7] += h;
  }

  digest() {
    const bits = this.bytes * 8,
      rest = this.left.length;
    const end = new Uint8Array(rest < 56 ? 64 : 128);
    end.set(this.left);
    end[rest] = 0x80;
    const view = new DataView(end.buffer);
    view.setUint32(end.length - 8, Math.floor(bits / 2 ** 32));
    view.setUint32(end.length - 4, bits % 2 ** 32);
    for (let at = 0; at < end.length; at += 64) this.block(end, at);
    return [...this.state].map((word) => word.toString(16).padStart(8, "0")).join("");
  }
}

async function eachChunk(file, take) {
  const reader = file.stream().getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read())
    take(value);
}

async function digestOf(file) {
  const sha = new Sha256();
  await eachChunk(file, (bytes) => sha.update(bytes));
  return sha.digest();
}

// The columns of a table, its SHA-256, and how many records have each combination of some columns.
async function counted(file, separator, names, progress) {
  const sha = new Sha256(),
    decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const counts = new Map(),
    codes = names.map(() => new Map());
  const texts = names.map(() => []),
    known = names.map(() => new Map());
  let header = null,
    places = [],
    read = 0,
    size = 0;
  const csv = new Csv(separator, (fields) => {
    if (header === null) {
      header = fields;
      places = names.map((name) => header.indexOf(name));
      if (places.includes(-1))
        throw new Unexamined("the table has not all columns that the manifest names");
      return;
    }
    if (fields.length !== header.length)
      throw new Unexamined("a record has other fields than the columns");
    let key = "";
    for (let i = 0; i < places.length; i += 1) {
      const raw = fields[places[i]];
      let code = codes[i].get(raw);
      if (code === undefined) {
        // texts with other blanks around them are one
        const text = raw.replace(OUTER, "");
        if (!known[i].has(text)) known[i].set(text, texts[i].push(text) - 1);
        code = known[i].get(text);
        codes[i].set(raw, code);
      }
      key += `${code},`;
    }
    size += 1;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  });
  await eachChunk(file, (bytes) => {
    sha.update(bytes);
    csv.feed(decoder.decode(bytes, { stream: true }));
    read += bytes.length;
    progress(read / file.size);
  });
  csv.feed(decoder.decode());
  csv.close();
  const rows = [...counts].map(([key, n]) => [
    key
      .split(",")
      .slice(0, -1)
      .map((code, i) => texts[i][Number(code)]),
    n,
  ]);
  return { header: header ?? [], rows, size, digest: sha.digest() };
}

// ---- The signature ----

async function signed(content, signature, pem) {
  if (!pem && !signature) return null;
  if (!signature) return { holds: false, why: "the release is not signed" };
  if (!pem) return { holds: null, why: "the public key of who released it is needed" };
  if (pem.includes("PRIVATE KEY"))
    return {
      holds: null,
      why: "this is a private key, which nobody but its owner should have: give the public one",
    };
  const inner = /-----BEGIN PUBLIC KEY-----([\sA-Za-z0-9+/=]+)-----END PUBLIC KEY-----/.exec(pem);
  try {
    const der = Uint8Array.from(atob(inner[1].replace(/\s/g, "")), (c) => c.charCodeAt(0));
    const sha = new Sha256();
    sha.update(der);
    const key = await crypto.subtle.importKey("spki", der, { name: "Ed25519" }, false, ["verify"]);
    const fine = await crypto.subtle.verify("Ed25519", key, signature, content);
    const print = `the key sha256:${sha.digest()}`;
    const why = fine
      ? `signed by ${print}`
      : `not by ${print}: release.json was changed after it was signed, or somebody else signed it`;
    return { holds: fine, why };
  } catch (error) {
    const none = inner === null || (error instanceof DOMException && error.name === "DataError");
    return {
      holds: null,
      why: none ? "this is no public key of Ed25519 as PEM" : "this browser cannot check Ed25519",
    };
  }
}

// ---- What is examined, in this order ----

const sameList = (one, other) =>
  Array.isArray(one) &&
  Array.isArray(other) &&
  one.length === other.length &&
  one.every((each, i) => each === other[i]);
const sameSet = (one, other) => sameList([...new Set(one)].sort(), [...new Set(other)].sort());

async function examine(files, pem, say, progress) {
  const own = files.filter((file) => (file.webkitRelativePath ?? "").split("/").length <= 2);
  const named = new Map(own.map((file) => [file.name, file]));
  if (named.size < own.length)
    throw new Unexamined("two files have one name: choose those of one release");
  const place = named.get("release.json");
  if (!place) throw new Unexamined("there is no release.json among the files");
  const content = new Uint8Array(await place.arrayBuffer());
  const manifest = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  const { table: about, columns: roles, privacy } = manifest;
  const sig = named.get("release.json.sig");
  const signature = await signed(content, sig && new Uint8Array(await sig.arrayBuffer()), pem);
  if (signature) say({ ...signature, what: "signature", signature: true });
  for (const other of about.verifiers ?? []) {
    const file = named.get(other.file);
    say({
      what: `checksum of ${other.file}`,
      holds: file ? (await digestOf(file)) === other.sha256 : null,
      why: file ? "" : "it is not among the files",
    });
  }
  const file = named.get(about.file);
  if (![1, 2].includes(manifest.format) || !privacy.length)
    throw new Unexamined("a manifest without promises, or of another format");
  if (!file) throw new Unexamined(`the table ${about.file}, which is not among the files`);
  if (about.file !== "released.csv") {
    say({
      what: `checksum of ${about.file}`,
      holds: (await digestOf(file)) === about.sha256,
      why: "",
    });
    throw new Unexamined("the table: only CSV is read here, not Parquet or other files");
  }
  const names = roles.quasi_identifiers,
    columns = [...names, ...roles.sensitive];
  const { header, rows, size, digest } = await counted(file, roles.separator, columns, progress);
  say({
    what: `checksum of ${about.file}`,
    holds: digest === about.sha256,
    why: digest === about.sha256 ? "" : "the table was changed after it was released",
  });
  const without = (list) => list.filter((name) => name !== "class");
  const others = header.filter(
    (name) => !columns.includes(name) && name !== manifest.person_numbers,
  );
  say({
    what: "columns and their roles",
    why: "",
    holds:
      sameList(header, about.columns) &&
      sameList(others, manifest.other_columns) &&
      new Set(header).size === header.length &&
      sameSet(without(names), without(Object.keys(manifest.recoding))),
  });
  const groups = new Map([...roles.sensitive, null].map((name) => [name, new Map()])),
    labels = new Map();
  for (const [texts, n] of rows) {
    const label = JSON.stringify(texts.slice(0, names.length));
    labels.set(label, texts.slice(0, names.length));
    [...groups].forEach(([name, own], i) => {
      const value = name === null ? null : texts[names.length + i];
      if (!own.has(label)) own.set(label, new Map());
      own.get(label).set(value, (own.get(label).get(value) ?? 0) + n);
    });
  }
  say({
    what: "records and classes",
    holds: size === manifest.released && labels.size === manifest.classes && size > 0,
    why: `${size.toLocaleString("en")} records in ${labels.size.toLocaleString("en")} classes`,
  });
  const gaps = columns.map((_, i) =>
    sum(rows.filter(([texts]) => texts[i] === "").map(([, n]) => n)),
  );
  const told = columns.map((name) =>
    Object.hasOwn(about.missing, name) ? about.missing[name] : null,
  );
  say({
    what: "missing values",
    holds: sameList(gaps, told) && (["category", "gap"].includes(roles.missing) || !sum(gaps)),
    why: "",
  });
  for (const promise of privacy) {
    const row = promised(promise, manifest, groups);
    const label = row.label
      ? labels
          .get(row.label)
          .map((text, i) => `${names[i]}: ${text}`)
          .join(", ")
      : "";
    say({ ...row, label });
  }
}

// What the rows come to: false where something is broken, null where something is unknown.
function concluded(rows) {
  const states = rows.map((row) => row.holds);
  return states.includes(false) ? false : states.includes(null) || !states.length ? null : true;
}

// In a worker: examine, and send each row as it is found.
async function inWorker({ files, pem }) {
  let last = 0;
  const progress = (share) => {
    if (share - last < 0.02) return;
    last = share;
    postMessage({ progress: share });
  };
  try {
    await examine(files, pem, (row) => postMessage({ row }), progress);
  } catch (error) {
    const why =
      error instanceof Unexamined ? error.message : "the release cannot be read: a file is damaged";
    postMessage({ row: { what: "the rest", holds: null, why } });
  }
  postMessage({ done: true });
}

if (typeof document === "undefined" && typeof postMessage === "function") {
  onmessage = (event) => inWorker(event.data);
}

// ---- The page ----

const STATES = new Map([
  [true, "holds"],
  [false, "BROKEN"],
  [null, "not examined"],
]);

const WARNED = "Do not rely on this release:";

function summary(rows) {
  const signature = rows.find((row) => row.signature);
  const rest = concluded(rows.filter((row) => row !== signature));
  if (signature?.holds === false) {
    return rest === false
      ? `${WARNED} it is not signed by this key as it is, and it breaks what it says.`
      : `${WARNED} it is not signed by this key. It is somebody else's, or was changed.`;
  }
  if (rest === false && signature?.holds)
    return `${WARNED} its manifest is signed by this key, and the rest is not what was signed.`;
  if (rest === false) return `${WARNED} something is broken.`;
  if (concluded(rows) === null) return "Nothing is broken, and not everything could be examined.";
  return signature
    ? "The release is signed by this key, and keeps its promises."
    : "The release keeps its promises. It is not signed: who released it is not known.";
}

function shown(row) {
  const line = document.createElement("tr");
  line.dataset.state = STATES.get(row.holds);
  for (const text of [STATES.get(row.holds), row.what, row.why, row.label ?? ""]) {
    line.insertCell().textContent = text;
  }
  return line;
}

function onPage() {
  const at = (id) => document.getElementById(id);
  let worker = null,
    chosen = [];
  const stop = () => {
    worker?.terminate();
    worker = null;
    at("stop").disabled = true;
  };
  const run = () => {
    stop();
    const rows = [];
    at("rows").replaceChildren();
    at("summary").textContent = "Reading";
    delete at("summary").dataset.state;
    if (!chosen.length) {
      at("summary").textContent = "Choose the files of a release first.";
      return;
    }
    const source = new Blob([at("verifier").textContent], { type: "text/javascript" });
    const address = URL.createObjectURL(source);
    worker = new Worker(address);
    URL.revokeObjectURL(address);
    at("stop").disabled = false;
    worker.onmessage = ({ data }) => {
      if (data.progress) at("progress").value = data.progress;
      if (data.row) {
        rows.push(data.row);
        at("rows").append(shown(data.row));
      }
      if (data.done) {
        stop();
        at("progress").value = 1;
        at("summary").dataset.state = STATES.get(concluded(rows));
        at("summary").textContent = summary(rows);
      }
    };
    worker.onerror = () => {
      stop();
      at("summary").dataset.state = STATES.get(null);
      at("summary").textContent = "Not examined: this browser could not go on.";
    };
    worker.postMessage({ files: chosen, pem: at("key").value.trim() });
  };
  const choose = (files) => {
    chosen = [...files];
    run();
  };
  at("files").onchange = () => choose(at("files").files);
  at("folder").onchange = () => choose(at("folder").files);
  at("examine").onclick = run;
  at("stop").onclick = () => {
    stop();
    at("summary").textContent = "Stopped: not examined.";
  };
  at("key-file").onchange = async () => {
    at("key").value = (await at("key-file").files[0]?.slice(0, 1e5).text()) ?? "";
    if (chosen.length) run();
  };
  document.ondragover = (event) => event.preventDefault();
  document.ondrop = async (event) => {
    event.preventDefault();
    const entries = [...event.dataTransfer.items]
      .map((item) => item.webkitGetAsEntry())
      .filter(Boolean);
    const fileOf = (entry) =>
      new Promise((resolve, reject) => {
        entry.file(resolve, reject);
      });
    const found = [];
    for (const entry of entries) {
      if (entry.isFile) found.push(await fileOf(entry));
      else {
        const reader = entry.createReader();
        const list = () =>
          new Promise((resolve, reject) => {
            reader.readEntries(resolve, reject);
          });
        for (let some = await list(); some.length; some = await list()) {
          for (const inner of some) if (inner.isFile) found.push(await fileOf(inner));
        }
      }
    }
    choose(found);
  };
}

if (typeof document !== "undefined") onPage();
