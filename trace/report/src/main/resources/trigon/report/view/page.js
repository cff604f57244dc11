"use strict";
// which collective is shown, and how much of it: keys + and - zoom, 0 shows all, the arrow keys scroll
const choice = document.getElementById("choice");
const sections = Array.from(document.querySelectorAll("section.collective"));
function show(index) {
  sections.forEach((section, i) => { section.hidden = i !== index; });
}
if (choice) {
  choice.addEventListener("change", () => show(choice.selectedIndex));
  show(0);
}
function zoom(area, factor) {
  const svg = area.querySelector("svg");
  const now = Number(svg.dataset.zoom || 1);
  const next = factor === 0 ? 1 : Math.min(64, Math.max(1, now * factor));
  const middle = (area.scrollLeft + area.clientWidth / 2) / area.scrollWidth;
  svg.dataset.zoom = next;
  svg.setAttribute("preserveAspectRatio", "none");
  svg.style.height = svg.dataset.height || (svg.dataset.height = svg.getBoundingClientRect().height + "px");
  if (now === 1) {
    svg.dataset.width = svg.getBoundingClientRect().width; // on a narrow screen more than the area has
  }
  svg.style.width = next === 1 ? "" : next * svg.dataset.width + "px";
  area.scrollLeft = middle * area.scrollWidth - area.clientWidth / 2;
}
document.querySelectorAll(".scroll").forEach((area) => {
  area.addEventListener("keydown", (event) => {
    const factor = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, "0": 0 }[event.key];
    if (factor !== undefined) {
      zoom(area, factor);
      event.preventDefault();
    }
  });
  area.addEventListener("wheel", (event) => {
    if (event.ctrlKey) {
      zoom(area, event.deltaY < 0 ? 1.25 : 0.8);
      event.preventDefault();
    }
  }, { passive: false });
});
document.querySelectorAll("button[data-zoom]").forEach((button) => {
  button.addEventListener("click", () => zoom(button.closest("section").querySelector(".scroll"),
    Number(button.dataset.zoom)));
});
