// A histogram of an attribute by the values of another one, with cut points that can be moved.
// What it is given and what it tells are listed in ruler.py.

const LEFT = 46, RIGHT = 14, TOP = 52, PLOT = 170, BOTTOM = 44;
const PAUSE = 500; // milliseconds after the last key until a cut is taken
const THROTTLE = 50; // milliseconds between two moves that are reported
const HIDDEN = 7.2; // pixels of a character, for labels that must not overlap
let made = 0;

export default {
  template: `
  <div class="ruler" role="group" :aria-label="label">
    <svg :width="width" :height="height" class="ruler-drawing" ref="drawing"
      @pointermove="dragged" @pointerup="dropped" @pointercancel="cancelled">
      <defs>
        <pattern v-for="(name, k) in series" :id="pattern(k)" width="8" height="8" patternUnits="userSpaceOnUse">
          <rect width="8" height="8" :style="{ fill: color(k) }" />
          <path v-if="marks[k % 6]" :d="marks[k % 6]" class="ruler-mark" />
        </pattern>
      </defs>
      <g role="img" :aria-label="words">
        <rect v-for="(band, k) in bands" :x="band[0]" :width="band[1]" :y="top" :height="plot"
          :class="k % 2 ? 'ruler-band odd' : 'ruler-band'" />
        <g v-for="tick in heights">
          <line :x1="left" :x2="width - right" :y1="tick[0]" :y2="tick[0]" class="ruler-line" />
          <text :x="left - 6" :y="tick[0] + 4" text-anchor="end">{{ tick[1] }}</text>
        </g>
        <text :x="2" :y="top - 8" text-anchor="start">{{ counted }}</text>
        <g v-for="bar in drawn">
          <rect v-for="part in bar" :x="part.x" :width="part.width" :y="part.y" :height="part.height"
            :fill="'url(#' + pattern(part.series) + ')'" class="ruler-bar" />
        </g>
        <line :x1="left" :x2="width - right" :y1="top + plot" :y2="top + plot" class="ruler-axis" />
        <g v-for="tick in marked">
          <line :x1="tick[0]" :x2="tick[0]" :y1="top + plot" :y2="top + plot + 5" class="ruler-axis" />
          <text :x="tick[0]" :y="top + plot + 18" :text-anchor="tick[2]">{{ tick[1] }}</text>
        </g>
        <text :x="(left + width - right) / 2" :y="height - 6" text-anchor="middle" class="ruler-name">{{ name }}</text>
      </g>
      <rect v-if="!readonly" :x="left" :width="Math.max(width - left - right, 0)" :y="top" :height="plot"
        class="ruler-ground" @click="clicked" />
      <g v-for="handle in handles" :key="handle.id" :data-id="handle.id" class="ruler-cut"
        :class="{ active: handle.id === active }"
        :tabindex="readonly ? -1 : 0" :role="readonly ? 'img' : 'slider'" aria-orientation="horizontal"
        :aria-label="handle.label" :aria-valuemin="handle.min" :aria-valuemax="handle.max"
        :aria-valuenow="handle.at" :aria-valuetext="handle.spoken"
        @pointerdown="grabbed($event, handle.id)" @keydown="pressed($event, handle.id)"
        @focus="chosen(handle.id)" @blur="left_alone">
        <rect :x="handle.x - 12" width="24" :y="top - 22" :height="plot + 22" class="ruler-hit" />
        <line :x1="handle.x" :x2="handle.x" :y1="top - 8" :y2="top + plot" class="ruler-stem" />
        <path v-if="!readonly" :d="grip(handle.x)" class="ruler-grip" />
        <text v-if="handle.row !== null" :x="handle.textAt" :y="handle.row ? 13 : 27" text-anchor="middle"
          class="ruler-text">{{ handle.text }}</text>
      </g>
    </svg>
    <ul class="ruler-legend" aria-label="Colours and patterns">
      <li v-for="(name, k) in series">
        <svg width="22" height="14" aria-hidden="true"><rect x=".5" y=".5" width="21" height="13"
          :fill="'url(#' + pattern(k) + ')'" class="ruler-bar" /></svg> {{ name }}
      </li>
    </ul>
  </div>`,
  props: {
    label: String,
    name: String,
    counted: String,
    low: Number,
    high: Number,
    bars: Array,
    series: Array,
    places: String,
    cuts: Array,
    texts: Object,
    ticks: Array,
    readonly: Boolean,
  },
  data: () => ({
    width: 300,
    own: [], // the cuts as they are shown: an id that stays, and the key of the place
    active: null,
    top: TOP,
    plot: PLOT,
    left: LEFT,
    right: RIGHT,
    height: TOP + PLOT + BOTTOM,
    marks: [
      "",
      "M-2 2 L2 -2 M0 8 L8 0 M6 10 L10 6",
      "M2 2 h2 v2 h-2 z M6 6 h2 v2 h-2 z",
      "M2 0 V8 M6 0 V8",
      "M-2 6 L2 10 M0 0 L8 8 M6 -2 L10 2",
      "M0 2 H8 M0 6 H8",
    ],
  }),
  created() {
    this.number = ++made;
    this.next = 0;
    this.dragging = null; // what is dragged: its id, where it was, and whether it has moved
    this.waiting = null; // the timer after which keys are taken
    this.follow();
  },
  mounted() {
    this.observer = new ResizeObserver(() => this.measure());
    this.observer.observe(this.$el);
    this.measure();
  },
  beforeUnmount() {
    this.observer.disconnect();
    clearTimeout(this.waiting?.timer);
  },
  watch: {
    cuts: { handler: "follow", deep: true },
  },
  computed: {
    keys() {
      return this.places ? this.places.split(";") : [];
    },
    ats() {
      return this.keys.map(Number);
    },
    span() {
      return this.high - this.low || 1;
    },
    most() {
      const found = Math.max(1, ...this.bars.map((bar) => bar[2].reduce((a, b) => a + b, 0)));
      const step = nice(found / 3);
      return Math.ceil(found / step) * step;
    },
    heights() {
      const step = nice(this.most / 3.01);
      const found = [];
      for (let at = 0; at <= this.most + 1e-9; at += step) found.push([this.y(at), written(at)]);
      return found;
    },
    drawn() {
      return this.bars.map(([from, to, counts]) => {
        const x = this.x(from);
        const width = Math.max(this.x(to) - x - (this.x(to) - x > 5 ? 1 : 0), 0.6);
        let below = 0;
        return counts.map((count, series) => {
          const y = this.y(below + count);
          const height = this.y(below) - y;
          below += count;
          return { x, width, y, height, series };
        }).filter((part) => part.height > 0);
      });
    },
    marked() {
      const known = this.ticks || this.numbered();
      const found = [];
      let end = -Infinity;
      for (const [at, text] of known) {
        const x = this.x(at), half = (String(text).length * HIDDEN) / 2;
        const anchor = x - half < 0 ? "start" : x + half > this.width ? "end" : "middle";
        const begin = anchor === "start" ? x : anchor === "end" ? x - 2 * half : x - half;
        if (begin < end + 8) continue;
        end = begin + 2 * half;
        found.push([x, text, anchor]);
      }
      return found;
    },
    bands() {
      const ends = [this.low, ...this.own.map((cut) => Number(cut.key)), this.high].map(this.x);
      return ends.slice(1).map((end, k) => [ends[k], Math.max(end - ends[k], 0)]);
    },
    handles() {
      const ends = [-Infinity, -Infinity];
      return this.own.map((cut, k) => {
        const at = Number(cut.key), x = this.x(at), text = this.text(cut.key);
        const half = (text.length * HIDDEN) / 2 + 3;
        const textAt = Math.min(Math.max(x, half), this.width - half);
        let row = ends.findIndex((end) => textAt - half >= end);
        if (row >= 0) ends[row] = textAt + half;
        if (row < 0) row = cut.id === this.active ? 1 : null;
        const before = k ? this.text(this.own[k - 1].key) : "";
        const after = k + 1 < this.own.length ? this.text(this.own[k + 1].key) : "";
        const spoken = text + (before ? `, the cut before at ${before}` : "") + (after ? `, the next at ${after}` : "");
        const label = this.readonly ? `Cut at ${text}` : `Cut ${k + 1} of ${this.own.length}, ${this.name}`;
        const [min, max] = this.room(k).map((place) => this.ats[place]);
        return { id: cut.id, x, at, text, textAt, row, spoken, label, min: min ?? at, max: max ?? at };
      });
    },
    words() {
      const cuts = this.own.map((cut) => this.text(cut.key)).join(", ") || "none";
      return `Histogram of ${this.name}: ${this.counted} by ${this.series.join(", ")}. Cuts: ${cuts}.`;
    },
  },
  methods: {
    pattern(k) {
      return `ruler-${this.number}-${k}`;
    },
    color(k) {
      return `var(--series-${(k % 6) + 1})`;
    },
    measure() {
      this.width = Math.max(this.$el.clientWidth, 120);
    },
    x(at) {
      const within = Math.min(Math.max(at, this.low), this.high);
      return LEFT + ((within - this.low) / this.span) * (this.width - LEFT - RIGHT);
    },
    y(count) {
      return TOP + PLOT - (count / this.most) * PLOT;
    },
    text(key) {
      return (this.texts && this.texts[key]) || written(Number(key));
    },
    grip(x) {
      return `M${x - 7} ${TOP - 20} h14 v9 l-7 8 l-7 -8 z`;
    },
    numbered() {
      const step = nice(this.span / Math.max((this.width - LEFT - RIGHT) / 70, 2));
      const found = [];
      for (let k = Math.ceil(this.low / step - 1e-9); k * step <= this.high + step * 1e-9; k++)
        found.push([k * step, written(k * step)]);
      return found;
    },
    follow() {
      if (this.dragging || this.waiting) return; // what the hand does comes first
      const given = this.cuts || [];
      const same = given.length === this.own.length;
      const known = new Map(this.own.map((cut) => [cut.key, cut.id]));
      this.own = given.map((key, k) => ({
        key,
        id: same ? this.own[k].id : (known.get(key) ?? this.next++),
      }));
    },
    place(at) {
      let low = 0, high = this.ats.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.ats[middle] < at) low = middle + 1;
        else high = middle;
      }
      return low; // of the first place that is not below
    },
    nearest(at) {
      const above = this.place(at);
      if (above === 0) return 0;
      if (above === this.ats.length) return above - 1;
      return at - this.ats[above - 1] < this.ats[above] - at ? above - 1 : above;
    },
    room(k) {
      const before = k ? Number(this.own[k - 1].key) : -Infinity;
      const after = k + 1 < this.own.length ? Number(this.own[k + 1].key) : Infinity;
      let low = this.place(before);
      if (this.ats[low] === before) low++;
      return [low, this.place(after) - 1];
    },
    index(id) {
      return this.own.findIndex((cut) => cut.id === id);
    },
    put(id, place) {
      const k = this.index(id), [low, high] = this.room(k);
      const to = Math.min(Math.max(place, low), high);
      if (high < low || this.keys[to] === this.own[k].key) return false;
      this.own[k].key = this.keys[to];
      return true;
    },
    tell(event, from, to) {
      this.$emit(event, { from, to, cuts: this.own.map((cut) => cut.key) });
    },
    pointed(event) {
      const box = this.$refs.drawing.getBoundingClientRect();
      return this.low + ((event.clientX - box.left - LEFT) / (this.width - LEFT - RIGHT)) * this.span;
    },
    chosen(id) {
      this.active = id;
      this.$emit("choose", { key: this.own[this.index(id)]?.key ?? null });
    },
    grabbed(event, id) {
      if (this.readonly || event.button) return;
      this.settle();
      this.dragging = { id, from: this.own[this.index(id)].key, moved: false };
      this.$refs.drawing.setPointerCapture(event.pointerId);
      event.currentTarget.focus({ preventScroll: true });
      event.preventDefault();
    },
    dragged(event) {
      if (!this.dragging) return;
      if (!this.put(this.dragging.id, this.nearest(this.pointed(event)))) return;
      this.dragging.moved = true;
      this.moved(this.dragging);
    },
    moved(what) {
      if (this.throttled) {
        this.throttled.again = true;
        return;
      }
      const cut = this.own[this.index(what.id)];
      if (cut) this.tell("move", what.from, cut.key);
      const throttled = (this.throttled = { again: false });
      throttled.timer = setTimeout(() => {
        this.throttled = null;
        if (throttled.again && (this.dragging || this.waiting)) this.moved(what);
      }, THROTTLE);
    },
    dropped(event) {
      if (!this.dragging) return;
      const { id, from, moved } = this.dragging;
      this.dragging = null;
      if (moved) this.tell("take", from, this.own[this.index(id)].key);
    },
    cancelled() {
      if (!this.dragging) return;
      const { id, from } = this.dragging;
      this.dragging = null;
      this.own[this.index(id)].key = from;
      this.tell("take", from, from);
    },
    clicked(event) {
      this.settle();
      const place = this.nearest(this.pointed(event));
      const key = this.keys[place];
      if (key === undefined || this.own.some((cut) => cut.key === key)) return;
      const cut = { key, id: this.next++ };
      this.own = [...this.own, cut].sort((a, b) => Number(a.key) - Number(b.key));
      this.tell("add", null, key);
      this.focus(cut.id);
    },
    pressed(event, id) {
      if (this.readonly || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape" && this.dragging) return this.cancelled();
      if (event.key === "Delete" || event.key === "Backspace") {
        event.preventDefault();
        return this.removed(id);
      }
      const now = this.nearest(Number(this.own[this.index(id)].key));
      const [low, high] = this.room(this.index(id));
      const to = {
        ArrowRight: now + 1,
        ArrowUp: now + 1,
        ArrowLeft: now - 1,
        ArrowDown: now - 1,
        PageUp: now + 10,
        PageDown: now - 10,
        Home: low,
        End: high,
      }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      const from = this.own[this.index(id)].key;
      if (!this.put(id, to)) return;
      clearTimeout(this.waiting?.timer);
      this.waiting = { id, from: this.waiting?.from ?? from };
      this.waiting.timer = setTimeout(this.settle, PAUSE);
      this.moved(this.waiting);
    },
    settle() {
      if (!this.waiting) return;
      const { id, from, timer } = this.waiting;
      clearTimeout(timer);
      this.waiting = null;
      this.tell("take", from, this.own[this.index(id)].key);
    },
    left_alone() {
      this.active = null;
      this.settle();
    },
    removed(id) {
      this.settle();
      const k = this.index(id), { key } = this.own[k];
      const neighbour = this.own[k + 1] ?? this.own[k - 1];
      this.own = this.own.filter((cut) => cut.id !== id);
      this.tell("remove", key, null);
      if (neighbour) this.focus(neighbour.id);
    },
    focus(id) {
      this.$nextTick(() => this.$refs.drawing.querySelector(`[data-id="${id}"]`)?.focus());
    },
  },
};

function nice(about) {
  const size = 10 ** Math.floor(Math.log10(about || 1));
  return size * ([1, 2, 5].find((digit) => digit * size >= about * 0.999) ?? 10);
}

function written(number) {
  return number.toLocaleString("en-US", { maximumFractionDigits: 6 });
}
