// A slider of the browser's own: keys, touch and readers of screens know it.
// Props: label, low, high, step, value, unit. Emits "move" while it moves, and "take" when it is let go.
export default {
  template: `
    <input type="range" class="slider" :aria-label="label" :aria-valuetext="shown"
      :min="low" :max="high" :step="step" :value="local" @input="move" @change="take">`,
  props: { label: String, low: Number, high: Number, step: Number, value: Number, unit: String },
  data() {
    return { local: this.value, waits: null, last: 0 };
  },
  computed: {
    shown() {
      return this.unit ? `${this.local} ${this.unit}` : String(this.local);
    },
  },
  methods: {
    move(event) {
      this.local = Number(event.target.value);
      const wait = Math.max(0, this.last + 40 - performance.now());
      clearTimeout(this.waits);
      this.waits = setTimeout(() => {
        this.last = performance.now();
        this.$emit("move", this.local);
      }, wait);
    },
    take(event) {
      clearTimeout(this.waits);
      this.local = Number(event.target.value);
      this.$emit("take", this.local);
    },
    set(value) {
      this.local = value;
    },
  },
};
