namespace py store
exception Refused { 1: string why; 2: i32 code }
struct Item { 1: i64 id; 2: string name; 3: list<map<string, i32>> counts; 4: bool ok; 5: double weight; 6: set<i16> kinds }
service Store {
	Item get(1: i64 id, 2: Item like),
	void put(1: Item item) throws (1: Refused refused),
	string big(1: i32 size),
	void fails(),
	oneway void note(1: string text),
}
