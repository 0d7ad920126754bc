// Randomised response on the device, exactly: whole numbers of any size, bits of the browser's own source, no floats.
// Each design draws the distribution of its Python class in adomnia.survey: docs/proofs/local.md, section 4.

const SPARE_BYTES = 8; // more bits than needed: a draw is rejected with a chance below 2^-64

// An exactly uniform whole number from 0 to limit - 1.
export function drawBelow(limit) {
  if (limit <= 0n) throw new RangeError("The limit must be positive.");
  const bytes = Math.ceil(limit.toString(16).length / 2) + SPARE_BYTES;
  const span = 1n << BigInt(8 * bytes);
  for (;;) {
    let drawn = 0n;
    for (const byte of crypto.getRandomValues(new Uint8Array(bytes))) drawn = (drawn << 8n) | BigInt(byte);
    if (drawn < span - (span % limit)) return drawn % limit;
  }
}

// "2/3" or "0.75" as a pair of whole numbers.
export function readNumber(text) {
  const found = /^(\d{1,20})(?:\.(\d{1,20})|\/(\d{1,20}))?$/.exec(text);
  if (!found) throw new RangeError("A number of the survey cannot be read.");
  const [, whole, decimals = "", below] = found;
  if (below !== undefined) return [BigInt(whole), BigInt(below)];
  return [BigInt(whole + decimals), 10n ** BigInt(decimals.length)];
}

function flip(above, below) {
  return drawBelow(below) < above;
}

function drawNumber(limit) {
  return Number(drawBelow(BigInt(limit)));
}

function rowsOf(categories) {
  let size = 1;
  while (size <= categories) size *= 2;
  return size;
}

function isEven(bits) {
  let even = true;
  for (let rest = bits; rest; rest &= rest - 1) even = !even;
  return even;
}

const DESIGNS = {
  warner: {
    draw(design, categories, answer) {
      return [flip(...readNumber(design.truth)) ? answer : 1 - answer];
    },
    longest: () => [1],
    supports: (design, report, answer) => report[0] === answer,
  },
  unrelated: {
    draw(design, categories, answer) {
      if (flip(...readNumber(design.truth))) return [answer];
      return [flip(...readNumber(design.innocuous)) ? 0 : 1];
    },
    longest: () => [1],
    supports: (design, report, answer) => report[0] === answer,
  },
  kary: {
    draw(design, categories, answer) {
      const [odds, unit] = readNumber(design.odds);
      if (flip(odds, odds + unit * BigInt(categories - 1))) return [answer];
      return [(answer + 1 + drawNumber(categories - 1)) % categories];
    },
    longest: (design, categories) => [categories - 1],
    supports: (design, report, answer) => report[0] === answer,
  },
  hadamard: {
    draw(design, categories, answer) {
      const [odds, unit] = readNumber(design.odds);
      const row = answer + 1;
      const drawn = drawNumber(rowsOf(categories));
      const agrees = flip(odds, odds + unit);
      return [isEven(drawn & row) === agrees ? drawn : drawn ^ (row & -row)];
    },
    longest: (design, categories) => [rowsOf(categories) - 1],
    supports: (design, report, answer) => isEven(report[0] & (answer + 1)),
  },
  subset: {
    draw(design, categories, answer) {
      const [odds, unit] = readNumber(design.odds);
      const size = Number(readNumber(design.size)[0]);
      const within = odds * BigInt(size);
      const own = flip(within, within + unit * BigInt(categories - size)) ? [answer] : [];
      const others = [...Array(categories).keys()].filter((each) => each !== answer);
      for (let place = 0; place < size - own.length; place += 1) {
        const other = place + drawNumber(others.length - place);
        [others[place], others[other]] = [others[other], others[place]];
      }
      return own.concat(others.slice(0, size - own.length)).sort((first, second) => first - second);
    },
    longest(design, categories) {
      const size = Number(readNumber(design.size)[0]);
      return [...Array(categories).keys()].slice(categories - size);
    },
    supports: (design, report, answer) => report.includes(answer),
  },
};

// What is reported instead of an answer, which is the place of it in the list.
export function randomize(design, categories, answer) {
  if (!Number.isInteger(answer) || answer < 0 || answer >= categories) throw new RangeError("There is no such answer.");
  return DESIGNS[design.name].draw(design, categories, answer);
}

// A report that takes the most digits: all are made as long, so that the length of what is sent says nothing.
export function findLongest(design, categories) {
  return DESIGNS[design.name].longest(design, categories);
}

// The answers that a report stands for.
export function listSupported(design, answers, report) {
  return answers.filter((_, place) => DESIGNS[design.name].supports(design, report, place));
}
