// The page of a survey: it randomises an answer once, remembers the result for good, and sends nothing else.
import { findLongest, listSupported, randomize } from "./randomize.js";

const TOKEN = /^[0-9a-f]{32}$/;
const answers = document.getElementById("answers");
const button = document.getElementById("send");
const status = document.getElementById("status");

function say(kind, ...lines) {
  const box = document.createElement("div");
  box.className = `hint-box ${kind}`;
  const text = document.createElement("div");
  text.className = "sent";
  for (const line of lines) {
    const paragraph = document.createElement("p");
    paragraph.textContent = line;
    text.append(paragraph);
  }
  box.append(text);
  status.replaceChildren(box);
}

function drawToken() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function findInvitation() {
  const written = location.hash.slice(1);
  return TOKEN.test(written) ? written : null;
}

// What this browser keeps of a survey: the token and the randomised answer. Several people with an invitation each may
// share a browser; without invitations it answers once.
class Memory {
  constructor(survey) {
    this.invitation = survey.invited ? findInvitation() : null;
    this.key = ["adomnia-survey", survey.id, ...(this.invitation ? [this.invitation] : [])].join(":");
  }

  recall() {
    const written = localStorage.getItem(this.key);
    return written === null ? null : JSON.parse(written);
  }

  // Two tabs must not draw two answers.
  async keepFirst(draw) {
    const keep = () => {
      if (this.recall() === null) {
        const kept = { token: this.invitation ?? drawToken(), report: draw() };
        localStorage.setItem(this.key, JSON.stringify(kept));
      }
      return this.recall();
    };
    return navigator.locks ? navigator.locks.request(this.key, keep) : keep();
  }
}

function describe(survey, report) {
  const stood = listSupported(survey.design, survey.answers, report);
  const words = stood.length ? stood.map((answer) => `“${answer}”`).join(", ") : "none of the answers";
  return `${report.length === 1 && stood.length === 1 ? "The randomised answer is" : "The randomised answer stands for"} ${words}.`;
}

// As many bytes for every report of a survey: JSON allows spaces behind it.
function write(survey, kept) {
  const written = (report) => JSON.stringify({ survey: survey.id, token: kept.token, report });
  return written(kept.report).padEnd(written(findLongest(survey.design, survey.answers.length)).length);
}

async function post(survey, kept) {
  const response = await fetch("/reports", {
    method: "POST",
    credentials: "omit",
    headers: { "Content-Type": "application/json" },
    body: write(survey, kept),
  });
  return [response.status, response.ok ? null : (await response.json()).error];
}

async function send(survey, kept) {
  const kind = "It is kept in this browser, and only it can be sent again.";
  try {
    const [code, error] = await post(survey, kept);
    if (error === null) {
      say("good", code === 201 ? "Sent. Thank you." : "The survey has it already; nothing was counted twice.", describe(survey, kept.report), kind);
      return true;
    }
    if (error.code === "reported") {
      say("price", "Another report came under this invitation before, and that one counts.", "Nothing needs to be done.");
      return true;
    }
    say("stop", `${error.what} ${error.why}.`, "Your randomised answer is kept in this browser: send the same one later.");
  } catch {
    say("stop", "The survey cannot be reached.", "Your randomised answer is kept in this browser: send the same one later.");
  }
  return false;
}

function choose() {
  const chosen = answers.querySelector("input:checked");
  return chosen === null ? null : Number(chosen.value);
}

// From now on the page knows what it will send, whatever is chosen.
function settle(survey, kept, sent) {
  for (const input of answers.querySelectorAll("input")) input.checked = false;
  answers.disabled = true;
  button.textContent = sent ? "Send the same result again" : "Try again to send the same result";
  button.disabled = false;
  button.onclick = async () => {
    button.disabled = true;
    settle(survey, kept, await send(survey, kept));
  };
}

function offer(survey, memory) {
  answers.disabled = false;
  answers.onchange = () => { button.disabled = false; };
  button.onclick = async () => {
    const answer = choose();
    if (answer === null) return;
    button.disabled = true;
    let kept;
    try {
      kept = await memory.keepFirst(() => randomize(survey.design, survey.answers.length, answer));
    } catch {
      say("stop", "This browser cannot keep the randomised answer, so nothing was sent: given twice, it would reveal more.");
      return;
    }
    settle(survey, kept, await send(survey, kept));
  };
}

async function start() {
  const survey = await (await fetch("/survey.json", { credentials: "omit" })).json();
  const memory = new Memory(survey);
  if (survey.invited && memory.invitation === null) {
    say("stop", "This survey is for people who were invited. Use the link that you were sent.");
    return;
  }
  const kept = memory.recall();
  if (kept === null) {
    status.replaceChildren();
    offer(survey, memory);
    return;
  }
  settle(survey, kept, true);
  say("price", "This browser has answered this survey.", describe(survey, kept.report));
}

start().catch(() => say("stop", "The survey cannot be loaded, or this browser cannot keep an answer. Nothing was sent."));
