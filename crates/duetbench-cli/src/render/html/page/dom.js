/* Making elements. Whatever is foreign becomes a text node here and never markup. */
const Dom = (() => {
  const SVG = "http://www.w3.org/2000/svg";

  function filled(node, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === true) node.setAttribute(name, "");
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  }

  /** An element; strings among its children are text. */
  const make = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);

  /** An element of a drawing. */
  const draw = (name, attributes = {}, ...children) =>
    filled(document.createElementNS(SVG, name), attributes, children);

  /** A foreign name: its direction of writing does not reach what stands beside it. */
  const name = (text) => make("bdi", {}, text);

  /** A sentence in which backticks hold what is typed. */
  function words(sentence) {
    const parts = sentence.split("`");
    return parts.length % 2 === 0 ? [sentence] : parts.map((part, i) => (i % 2 === 1 ? make("code", {}, part) : part));
  }

  /** The element of the page's own with this identity. */
  const get = (id) => document.getElementById(id);

  /** A term and what is said about it, for a list of definitions; null where there is nothing to say. */
  function fact(term, ...said) {
    const isEmpty = said.flat().every((part) => part === null || part === "");
    return isEmpty ? null : make("div", {}, make("dt", {}, term), make("dd", {}, said));
  }

  /** A table of plain cells; the first cell of a row is its heading. */
  function table(caption, columns, rows) {
    const head = make(
      "tr",
      {},
      columns.map((column) => make("th", { scope: "col" }, column)),
    );
    const body = rows.map(([first, ...rest]) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, String(first)),
        rest.map((cell) => make("td", {}, String(cell))),
      ),
    );
    return make(
      "table",
      {},
      make("caption", { class: "unseen" }, caption),
      make("thead", {}, head),
      make("tbody", {}, body),
    );
  }

  function select(node) {
    const range = document.createRange();
    range.selectNodeContents(node);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
  }

  /** Copies a node's text; where the browser forbids it, the text is selected instead. Gives what to tell. */
  async function copied(node) {
    try {
      await navigator.clipboard.writeText(node.textContent);
      return "Copied";
    } catch {
      select(node);
      return "Selected";
    }
  }

  /** A command in a line of its own with a button that copies it; null where none is offered. */
  function command(label, text) {
    if (text === null) return null;
    const code = make("code", { tabindex: "0" }, text);
    const button = make(
      "button",
      { type: "button", class: "copy" },
      "Copy",
      make("span", { class: "unseen" }, ` the command: ${label}`),
    );
    const told = make("span", { class: "told", role: "status" });
    button.addEventListener("click", async () => {
      told.textContent = await copied(code);
      setTimeout(() => (told.textContent = ""), 2000);
    });
    return make("div", { class: "command" }, make("span", { class: "label" }, label), code, told, button);
  }

  return { command, draw, fact, get, make, name, table, words };
})();
