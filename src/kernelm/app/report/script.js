"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  const value = (row, column) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const empty = (row) => value(row, column) === "";
      const rows = [...body.rows].sort((a, b) => {
        if (empty(a) || empty(b)) return empty(a) - empty(b);
        const order = value(a, column).localeCompare(value(b, column), "en", { numeric: true });
        const [x, y] = [Number(value(a, column)), Number(value(b, column))];
        return (Number.isNaN(x) || Number.isNaN(y) ? order : x - y) * (down ? -1 : 1);
      });
      body.replaceChildren(...rows);
    });
  });
}
